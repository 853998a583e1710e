package pipeline_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/processor/pipeline"
)

// family is the end of a named pipe that the programs of a test hold open: it
// ends when the last of them has died.
type family struct {
	path string
	name chan string
	died chan struct{}
}

func newFamily(t *testing.T) *family {
	t.Helper()
	f := &family{path: filepath.Join(t.TempDir(), "family"), name: make(chan string, 10), died: make(chan struct{})}
	if err := syscall.Mkfifo(f.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(f.died)
		pipe, err := os.Open(f.path) // waits for the first to open it
		if err != nil {
			t.Error(err)
			return
		}
		defer pipe.Close()
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			f.name <- lines.Text()
		}
		io.Copy(io.Discard, pipe)
	}()
	return f
}

func (f *family) await(t *testing.T, name string) {
	t.Helper()
	select {
	case got := <-f.name:
		if got != name {
			t.Fatalf("family says %q, want %q", got, name)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("no word of %s", name)
	}
}

func (f *family) awaitDeath(t *testing.T) {
	t.Helper()
	select {
	case <-f.died:
	case <-time.After(30 * time.Second):
		t.Fatal("some of the family live on")
	}
}

// start runs a script in the background and waits until it has said born.
func (f *family) start(t *testing.T, ctx context.Context, script string, o *pipeline.Options) <-chan error {
	t.Helper()
	p := parse(t, single(`exec: [sh, -c, "exec 9>'{{.Input.family}}'; {{.Input.script}}"]`), o)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Step("A").Handler(ctx, task("A", `{"family":`+quoted(f.path)+`,"script":`+quoted(script)+`}`))
		ended <- err
	}()
	f.await(t, "born")
	return ended
}

func TestExec_CancelKillsTheFamily(t *testing.T) {
	for name, script := range map[string]string{
		"a child":                   `sleep 1000 & echo born >&9; wait`,
		"grandchildren":             `sh -c "sleep 1000 & sleep 1000 & wait" & sh -c "echo born >&9; sleep 1000"`,
		"who do not listen":         `trap "" TERM; sh -c "sleep 1000 & echo born >&9; wait"; wait`,
		"who hold stdout":           `(trap "" TERM; sleep 1000) & echo born >&9; sleep 1000`,
		"who are stopped":           `sh -c "kill -STOP \$\$" & echo born >&9; wait`,
		"who have closed all pipes": `exec <&- >&- 2>&-; sleep 1000 & echo born >&9; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			cause := errors.New("lease lost")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := f.start(t, ctx, script, &pipeline.Options{Grace: 50 * time.Millisecond})
			cancel(cause)
			if err := <-ended; !errors.Is(err, cause) {
				t.Errorf("handler = %v, want %v", err, cause)
			}
			f.awaitDeath(t)
		})
	}
}

// TestMain makes the test binary a worker that can be killed.
func TestMain(m *testing.M) {
	script := os.Getenv("TEST_WORKER_SCRIPT")
	if script == "" {
		os.Exit(m.Run())
	}
	p, err := pipeline.Parse([]byte(single(`exec: [sh, -c, "{{.Input}}"]`)), nil)
	if err != nil {
		panic(err)
	}
	_, err = p.Step("A").Handler(context.Background(), task("A", quoted(script)))
	panic(err)
}

func TestExec_ProgramDiesWithItsWorker(t *testing.T) {
	f := newFamily(t)
	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), "TEST_WORKER_SCRIPT=exec 9>'"+f.path+"'; echo born >&9; exec sleep 1000")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	f.await(t, "born")
	worker.Process.Kill()
	worker.Wait()
	f.awaitDeath(t)
}

// SIGTERM comes first, and what a program says then is heard.
func TestExec_CancelIsPolite(t *testing.T) {
	f := newFamily(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := f.start(t, ctx, `trap 'echo bye >&9; echo cleaned up >&2; exit 0' TERM; echo born >&9; while :; do sleep 0.01; done`, &pipeline.Options{Grace: time.Minute})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "cleaned up") {
		t.Errorf("handler = %v, want it canceled, with what the program said", err)
	}
	f.await(t, "bye")
	f.awaitDeath(t)
}

// What a program leaves running ends with it, and cannot hold up its output.
func TestExec_LeftoversEndWithTheProgram(t *testing.T) {
	f := newFamily(t)
	ended := f.start(t, t.Context(), `sleep 1000 & echo born >&9; echo 1`, &pipeline.Options{Grace: time.Hour})
	if err := <-ended; err != nil {
		t.Errorf("handler = %v, want nil", err)
	}
	f.awaitDeath(t)
}

// One that leaves the group is not killed, but cannot hold up the step either.
func TestExec_Deserter(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	script := `setsid sh -c "echo \$\$ >$0; exec sleep 1000" & until [ -s $0 ]; do sleep 0.01; done; echo 1`
	got, err := handle(t, single(`exec: [sh, -c, "{{.Input.script}}", "{{.Input.file}}"]`),
		task("A", `{"script":`+quoted(script)+`,"file":`+quoted(pidFile)+`}`), &pipeline.Options{Grace: 10 * time.Millisecond})
	check(t, got, err, complete("1"))
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("kill the deserter: %v, want it alive", err)
	}
}

func TestExec_LeavesNothing(t *testing.T) {
	p := parse(t, single(`exec: [sh, -c, "echo 1; exit {{.Input}}"]`), nil)
	run := func(status string) { p.Step("A").Handler(t.Context(), task("A", status)) }
	run("0")
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range 20 {
		run("0")
		run("1")
	}
	if got := openFiles(t); got > files {
		t.Errorf("open files = %d, want %d", got, files)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > routines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("goroutines = %d, want %d", runtime.NumGoroutine(), routines)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
