package sqlitestore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// A process that is stopped in the middle of a write keeps others from theirs. They
// say which process it is, and go on by themselves as soon as it does, or is killed.
func TestProcesses_Stopped(t *testing.T) {
	for name, end := range map[string]func(p *process) error{
		"goes on":   func(p *process) error { return p.Process.Signal(syscall.SIGCONT) },
		"is killed": func(p *process) error { return p.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			create(t, path)
			s, err := sqlitestore.OpenWithin(time.Second, path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			p := start(t, "write-long", path)
			if !p.out.Scan() {
				t.Fatalf("the process ended by itself: %s", p.stderr.String())
			}
			if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("kill -CONT %d", p.Process.Pid)
			for said := false; !said; { // until the signal has arrived
				_, err := s.Put(t.Context(), "a", nil, nil)
				if !errors.Is(err, store.ErrStoreLocked) || !strings.Contains(err.Error(), path) {
					t.Fatalf("Put() = %v, want %v and the path", err, store.ErrStoreLocked)
				}
				said = strings.Contains(err.Error(), want)
			}
			p.in.Close() // what it waits for once it goes on
			if err := end(p); err != nil {
				t.Fatal(err)
			}
			p.Wait() // its error may be the kill
			put(t, s, "a", "")
		})
	}
}
