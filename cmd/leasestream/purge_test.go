package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// hundred is a pipeline with a hundred payloads of 6 kB.
const hundred = `
name: hundred
steps:
  - name: Split
    jq: '[range(100)]'
    split: {to: Work, join: Sum}
  - name: Work
    jq: '[range(3000)] | map(1)'
  - name: Sum
    jq: '[.results[].output | add] | add'
`

// contents looks into the store of a folder from outside.
type contents struct {
	t  *testing.T
	st store.Store
}

func (f folder) contents() contents {
	f.t.Helper()
	st, err := sqlitestore.Open(filepath.Join(f.dir, "leasestream.db"), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { st.Close() })
	return contents{f.t, st}
}

func (c contents) count(prefix string) (n int) {
	c.t.Helper()
	for _, err := range c.st.List(c.t.Context(), prefix) {
		if err != nil {
			c.t.Fatal(err)
		}
		n++
	}
	return n
}

// waitForFewer waits until there are no more than n payloads.
func (c contents) waitForFewer(n int) {
	c.t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(2 * time.Minute); c.count("payload/") > n; <-look.C {
		if time.Now().After(deadline) {
			c.t.Fatalf("there still are %d payloads, want %d", c.count("payload/"), n)
		}
	}
}

// Killed in the middle again and again, a purge gets to its end. All the time a run
// is there with all it has, or gone for everyone.
func TestPurge_KilledInTheMiddle(t *testing.T) {
	f := newFolder(t, hundred)
	for i := range 3 {
		if code, stdout, stderr := f.run("run", "pipeline.yaml", "--name", fmt.Sprint("r", i)); code != 0 || stdout != "300000\n" {
			t.Fatalf("run: exit code %d, %q; %s", code, stdout, stderr)
		}
	}
	c := f.contents()
	killed := 0
	for left := c.count("payload/"); left > 0; left = c.count("payload/") {
		p := f.start("purge", "--older-than", "0s", "--yes")
		c.waitForFewer(max(left-40, 0))
		p.signal(syscall.SIGKILL)
		if code, _, _ := p.wait(); code == -1 {
			killed++
		}
		f.checkWholeRuns(c)
	}
	if killed == 0 {
		t.Error("no purge was killed before it had ended")
	}
	if code, _, stderr := f.run("purge", "--older-than", "0s", "--yes"); code != 0 {
		t.Errorf("purge after %d that were killed: exit code %d; %s", killed, code, stderr)
	}
	for _, prefix := range []string{"payload/", "streams/", "archive/"} {
		if n := c.count(prefix); n != 0 {
			t.Errorf("%d purges that were killed, and one that was not, left %d blobs under %s", killed, n, prefix)
		}
	}
}

// checkWholeRuns checks that each run that is listed has all its payloads.
func (f folder) checkWholeRuns(c contents) {
	f.t.Helper()
	_, stdout, _ := f.run("ls", "--format", "json")
	var listed []struct{ Name, Run string }
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil {
		f.t.Fatalf("ls: %v", err)
	}
	for _, run := range listed {
		if n := c.count("payload/" + run.Run + "/"); n != 100 {
			f.t.Errorf("run %s is listed, with %d payloads of 100", run.Name, n)
		}
	}
}
