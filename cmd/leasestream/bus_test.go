package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/internal/azurite"
)

const busToken = "c2VjcmV0LXRva2VuLW9mLXRoZS10ZXN0"

// onAzurite makes a folder whose processes share a container that is polled every
// two seconds at most.
func onAzurite(t *testing.T) folder {
	t.Setenv("LEASESTREAM_STORE", azurite.Start(t).Container())
	t.Setenv("LEASESTREAM_BUS", "http://127.0.0.1")
	t.Setenv("LEASESTREAM_BUS_TOKEN_FILE", "token")
	f := newFolder(t, "name: one\nsteps:\n  - {name: Only, jq: .}\n")
	f.write("token", busToken+"\n")
	return f
}

// startAndWait starts a run, waits for its end, and returns how long it waited
// for the worker.
func (f folder) startAndWait(name string) time.Duration {
	f.t.Helper()
	if code, _, stderr := f.run("start", "pipeline.yaml", "--name", name); code != 0 {
		f.t.Fatalf("start = %d, %s", code, stderr)
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var shown struct {
			Events []struct {
				Status           string
				Created, Started time.Time
			}
		}
		_, stdout, stderr := f.run("show", name, "--format", "json")
		if err := json.Unmarshal([]byte(stdout), &shown); err != nil {
			f.t.Fatalf("show: %v; %s", err, stderr)
		}
		if root := shown.Events[0]; root.Status == "completed" {
			return root.Started.Sub(root.Created)
		}
		<-look.C
	}
}

// Two processes that ring each other over HTTP: work begins long before a poll
// would have found it.
func TestBus_OverHTTP(t *testing.T) {
	f := onAzurite(t)
	w := f.start("work", "pipeline.yaml", "--id", "w")
	w.until(`msg="worker started"`)
	_, blob, _ := f.run("blob", "get", "workers/w")
	if !strings.Contains(blob, `"url":"http://127.0.0.1:`) || strings.Contains(blob, busToken) {
		t.Errorf("the worker's blob = %s, want where it takes doorbells, without the token", blob)
	}
	best := time.Hour
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		best = min(best, f.startAndWait(name))
	}
	if best > time.Second {
		t.Errorf("the quickest of five runs waited %v for the worker, want less than half a poll", best)
	}
	w.signal(syscall.SIGTERM)
	if code, _, stderr := w.wait(); code != 0 || strings.Contains(stderr, busToken) {
		t.Errorf("work = %d, want 0 and no token in the log:\n%s", code, stderr)
	}
}

// A wrong token changes nothing but the latency, and is told.
func TestBus_WrongToken(t *testing.T) {
	f := onAzurite(t)
	f.write("other", "another-token-of-the-test")
	w := f.start("work", "pipeline.yaml", "--bus-token-file", "other")
	w.until(`msg="worker started"`)
	code, _, stderr := f.run("start", "pipeline.yaml", "--name", "r")
	if code != 0 || !strings.Contains(stderr, "same token") || strings.Contains(stderr, busToken) {
		t.Errorf("start = %d, %s, want 0 and what is wrong, without the token", code, stderr)
	}
	f.startAndWait("r")
}
