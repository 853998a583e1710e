package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

const (
	processes = 4
	events    = 40
)

func TestMain(m *testing.M) {
	if os.Getenv("SHAREDLOOP_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestEachEventIsCompletedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	completed := map[string]string{} // :: event → worker
	perWorker := map[string]int{}
	for _, output := range runTogether(t, path) {
		for _, m := range regexp.MustCompile(`(?m)^(\S+) completed (\S+)$`).FindAllSubmatch(output, -1) {
			worker, id := string(m[1]), string(m[2])
			if other, twice := completed[id]; twice {
				t.Errorf("event %s was completed by %s and by %s", id, other, worker)
			}
			completed[id] = worker
			perWorker[worker]++
		}
	}
	if len(completed) != events || len(perWorker) != processes {
		t.Errorf("%d events were completed by %d workers, want %d by %d", len(completed), len(perWorker), events, processes)
	}

	s := readStream(t, path)
	if p := s.Progress(); !s.IsDone() || p.Completed != events+1 {
		t.Errorf("the stream is done: %v, %+v; want all %d completed", s.IsDone(), p, events+1)
	}
	for id, worker := range completed {
		if got := s.Event(id).Key(); got != worker {
			t.Errorf("event %s has key %q, want %q", id, got, worker)
		}
	}
}

// runTogether starts the processes at once and returns what each printed.
func runTogether(t *testing.T, path string) [][]byte {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outputs := make([]bytes.Buffer, processes)
	var commands []*exec.Cmd
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), self, "-store", path, "-events", fmt.Sprint(events),
			"-worker", fmt.Sprintf("w%d", i), "-work", "20ms")
		cmd.Env = append(os.Environ(), "SHAREDLOOP_MAIN=1")
		cmd.Stdout, cmd.Stderr = &outputs[i], os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, cmd)
	}
	var all [][]byte
	for i, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		all = append(all, outputs[i].Bytes())
	}
	return all
}

func readStream(t *testing.T, path string) *eventstream.Stream {
	t.Helper()
	st, err := sqlitestore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	object, err := st.Get(t.Context(), "streams/sharedloop.xml", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := eventstream.Parse(object.Body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
