package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// loud is a pipeline of a step that says what it does and waits for a file gate.
const loud = `
name: loud
steps:
  - name: Ten
    jq: '[range(10)]'
    split: {to: Work, join: Done}
  - name: Work
    exec: [sh, -c, 'echo "working on $0 AccountKey=c2VjcmV0a2V5c2VjcmV0a2V5==" >&2; >began$0; until [ -e gate ]; do sleep 0.05; done; echo $0', '{{.Input}}']
  - name: Done
    jq: .results | length
`

type workerRow struct {
	ID, State string
	Slots     int
	Set       struct{ By string }
	Pipelines []struct{ Name string }
}

func (f folder) workers() []workerRow {
	f.t.Helper()
	_, stdout, stderr := f.run("worker", "ls", "--format", "json")
	var list []workerRow
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		f.t.Fatalf("worker ls = %q (%s): %v", stdout, stderr, err)
	}
	return list
}

// begun counts the steps that have begun.
func (f folder) begun() int {
	f.t.Helper()
	names, err := filepath.Glob(filepath.Join(f.dir, "began*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return len(names)
}

// eventually waits for something that another process does.
func (f folder) eventually(what string, ok func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("%s: not within a minute", what)
		}
	}
}

func TestWorker_SlotsAndLog(t *testing.T) {
	t.Parallel()
	f := newFolder(t, loud)
	worker := f.start("work", "pipeline.yaml", "--id", "w1", "--workers", "2", "--ship-logs", "--log-level", "warn")
	f.run("start", "pipeline.yaml", "--name", "r")
	f.eventually("two steps run", func() bool { return f.begun() == 2 })

	if got := f.workers(); len(got) != 1 || got[0].ID != "w1" || got[0].State != "alive" || got[0].Slots != 2 || got[0].Pipelines[0].Name != "loud" {
		t.Errorf("worker ls = %+v, want w1 alive with 2 slots", got)
	}
	if code, _, stderr := f.run("worker", "set", "w1", "--slots", "5", "--by", "ann"); code != 0 {
		t.Fatalf("worker set = %d: %s", code, stderr)
	}
	f.eventually("five steps run", func() bool { return f.begun() == 5 })
	if got := f.workers(); len(got) != 1 || got[0].Slots != 5 || got[0].Set.By != "ann" {
		t.Errorf("worker ls = %+v, want the 5 slots that ann gave", got)
	}
	_, stdout, _ := f.run("worker", "ls")
	if !strings.Contains(stdout, "w1  alive") || !strings.Contains(stdout, "LEASE LEFT") {
		t.Errorf("worker ls = %s, want a table", stdout)
	}

	// What programs say is in the log in the store, though not on the screen.
	f.eventually("the log is in the store", func() bool {
		_, stdout, _ := f.run("worker", "log", "w1")
		return strings.Contains(stdout, "working on 4 AccountKey=…")
	})
	f.write("gate", "")
	f.eventually("the run ends", func() bool { return f.ls()[0].Status == "completed" })
	worker.signal(syscall.SIGTERM)
	code, _, said := worker.wait()
	if code != 0 || strings.Contains(said, "working on") {
		t.Errorf("work = %d, said %s", code, said)
	}
	code, stdout, stderr := f.run("worker", "log", "w1")
	if code != 0 || !strings.Contains(stdout, `msg="worker stopped"`) || strings.Contains(stdout, "c2VjcmV0") {
		t.Errorf("worker log of one that ended = %d, %s%s, want its last word and no secret", code, stdout, stderr)
	}
	if got := f.workers(); len(got) > 0 {
		t.Errorf("worker ls = %+v after its end, want none", got)
	}
}

// A worker that was killed leaves its log, and cannot be told anything.
func TestWorker_LogOfTheDead(t *testing.T) {
	t.Parallel()
	f := newFolder(t, loud)
	worker := f.start("run", "pipeline.yaml", "--name", "r", "--ship-logs", "--workers", "1")
	f.eventually("a step runs", func() bool { return f.begun() == 1 })
	var id string
	f.eventually("the log is in the store", func() bool {
		id = f.workers()[0].ID
		_, stdout, _ := f.run("worker", "log", id)
		return strings.Contains(stdout, "working on")
	})
	worker.signal(syscall.SIGKILL)
	worker.wait()
	f.write("gate", "")
	if got := f.workers(); len(got) != 1 || got[0].State != "dead" {
		t.Errorf("worker ls = %+v after a kill, want it dead at once, on its own host", got)
	}
	if code, _, stderr := f.run("worker", "set", id, "--slots", "2"); code != 1 || !strings.Contains(stderr, "has died") {
		t.Errorf("worker set of a dead one = %d, %s", code, stderr)
	}
	if code, stdout, _ := f.run("worker", "log", id); code != 0 || !strings.Contains(stdout, "working on") {
		t.Errorf("worker log of a dead one = %d, %s", code, stdout)
	}
}

func TestWorker_Refused(t *testing.T) {
	f := newFolder(t, loud)
	f.run("start", "pipeline.yaml", "--name", "r")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, `no such worker: "w1"; leasestream worker ls lists them`, []string{"worker", "set", "w1", "--slots", "1"}},
		{1, `no log in the store: "w1"; one that is started with --ship-logs has`, []string{"worker", "log", "w1"}},
		{2, `must not end in .set or .log`, []string{"worker", "log", "w1.set"}},
		{2, `--slots is missing`, []string{"worker", "set", "w1"}},
		{2, `"-1"`, []string{"worker", "set", "w1", "--slots", "-1"}},
		{1, `must not end in .set or .log`, []string{"work", "pipeline.yaml", "--id", "w1.log"}},
	} {
		if code, _, stderr := f.run(c.args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v = %d, %s, want %d, %s", c.args, code, stderr, c.code, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "gate")); err == nil {
		t.Error("something ran")
	}
}
