package scope_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// The tests in this file kill, stop and race real processes that share a SQLite
// file. Each process is this test binary, started with childMode set.
const childMode = "LEASESTREAM_SCOPE_CHILD"

// longMode asks for the numbers that are too many for every day.
const longMode = "LEASESTREAM_LONG"

func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := child(mode, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, mode, err)
		os.Exit(1)
	}
}

func child(mode, path string) error {
	st, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	sc := scope.New(st, nil)
	defer sc.Close()
	ctx := context.Background()
	if err := st.Create(ctx); err != nil {
		return err
	}
	switch mode {
	case "count for ever":
		return countForEver(ctx, sc)
	case "create and count":
		return createAndCount(ctx, sc)
	case "be stopped":
		return beStopped(ctx, sc)
	}
	return errors.New("unknown mode")
}

const blobs = 16

func blobOf(i int) string { return fmt.Sprintf("streams/s%d.xml", i) }

// countForEver counts up in all blobs at once, and prints each number when its
// edit has returned.
func countForEver(ctx context.Context, sc *scope.Scope) error {
	var all sync.WaitGroup
	errs := make(chan error, blobs)
	for i := range blobs {
		all.Go(func() {
			for {
				n, err := countUp(ctx, sc, blobOf(i))
				if err != nil {
					errs <- err
					return
				}
				fmt.Printf("%d %d\n", i, n)
			}
		})
	}
	all.Wait()
	return <-errs
}

// createAndCount makes the stream, unless another process was faster, and counts
// up once.
func createAndCount(ctx context.Context, sc *scope.Scope) error {
	s, err := eventstream.Parse(nil)
	if err != nil {
		return err
	}
	if _, err := s.Edit(sc.Now(), func() error { return s.SetAttrs("n", "0") }); err != nil {
		return err
	}
	if _, err := sc.Create(ctx, blobOf(0), s); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	n, err := countUp(ctx, sc, blobOf(0))
	fmt.Println(n)
	return err
}

// countUp adds one to the number in a stream and returns it.
func countUp(ctx context.Context, sc *scope.Scope, blob string) (n int, err error) {
	_, err = sc.Edit(ctx, blob, func(s *eventstream.Stream) error {
		n = 0
		if text := s.Attr("n"); text != "" {
			if n, err = strconv.Atoi(text); err != nil {
				return err
			}
		}
		n++
		return s.SetAttrs("n", strconv.Itoa(n))
	})
	return n, err
}

// beStopped is stopped while it holds a lease and while an edit of it runs. The
// parent says by a line on stdin that it goes on.
func beStopped(ctx context.Context, sc *scope.Scope) error {
	var all sync.WaitGroup
	ready := make(chan struct{}, 2)
	goOn := make(chan struct{})
	all.Go(func() {
		err := sc.Run(ctx, "held", func(ctx context.Context, h *scope.Held) error {
			ready <- struct{}{}
			<-goOn
			// The loss may be noticed by the clock or by the store's answer: the write
			// is refused in either case.
			return h.Put(context.WithoutCancel(ctx), []byte("stale"), nil)
		}, nil)
		fmt.Println("run:", errors.Is(err, scope.ErrLeaseLost))
	})
	all.Go(func() {
		runs := 0
		_, err := sc.Edit(ctx, blobOf(0), func(s *eventstream.Stream) error {
			if runs++; runs == 1 {
				ready <- struct{}{}
				<-goOn
			}
			return s.SetAttrs("stopped", "saw "+s.Attr("other"))
		})
		fmt.Println("edit:", runs, err)
	})
	<-ready
	<-ready
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	close(goOn)
	all.Wait()
	return nil
}

// startChild starts a process of this binary and returns its stdout by lines.
func startChild(t *testing.T, mode, path string) (*exec.Cmd, *bufio.Scanner, io.WriteCloser) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, path)
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out), in
}

// openStore opens the file that the children share, with a stream in each blob.
func openStore(t *testing.T) (path string, sc *scope.Scope) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	st, err := sqlitestore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	sc = scope.New(st, nil)
	t.Cleanup(func() {
		if err := errors.Join(sc.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range blobs {
		if _, err := st.Put(t.Context(), blobOf(i), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	return path, sc
}

func TestProcess_KilledDuringEdits(t *testing.T) {
	kills := 20
	if os.Getenv(longMode) != "" {
		kills = 200
	}
	path, sc := openStore(t)
	var acknowledged [blobs]int
	var longest time.Duration
	for kill := range kills {
		cmd, lines, _ := startChild(t, "count for ever", path)
		killAt := 1 + rand.IntN(200)
		for n := 1; lines.Scan(); n++ {
			i, value := parseCount(t, lines.Text())
			if low := acknowledged[i]; value <= low || n <= blobs && value > low+2 {
				t.Fatalf("after kill %d, blob %d counts %d, and %d was acknowledged before", kill, i, value, low)
			}
			acknowledged[i] = value
			if n == killAt {
				// What the pipe still holds was acknowledged, too, and is read to its end.
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		longest = max(longest, takeOver(t, sc, &acknowledged))
	}
	t.Logf("%d kills; the longest take-over of a dead holder's blob took %v", kills, longest)
}

// takeOver counts up in each blob after a kill. No acknowledged edit may be
// missing, and at most the one that was under way may be there on top.
func takeOver(t *testing.T, sc *scope.Scope, acknowledged *[blobs]int) (longest time.Duration) {
	t.Helper()
	for i := range blobs {
		begin := time.Now()
		n, err := countUp(t.Context(), sc, blobOf(i))
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(begin))
		if before := acknowledged[i]; n != before+1 && n != before+2 {
			t.Fatalf("blob %d counts %d after a kill, want %d or %d", i, n, before+1, before+2)
		}
		acknowledged[i] = n
	}
	return longest
}

func parseCount(t *testing.T, line string) (blob, value int) {
	t.Helper()
	if _, err := fmt.Sscanf(line, "%d %d", &blob, &value); err != nil {
		t.Fatalf("a child printed %q: %v", line, err)
	}
	return blob, value
}

func TestProcess_StoppedPastItsLease(t *testing.T) {
	path, sc := openStore(t)
	if _, err := sc.Store().Put(t.Context(), "held", []byte("first"), nil); err != nil {
		t.Fatal(err)
	}
	cmd, lines, in := startChild(t, "be stopped", path)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the child printed %q", lines.Text())
	}
	signal(t, cmd, syscall.SIGSTOP)

	// Both wait for the leases of the one that was stopped to run out.
	var others sync.WaitGroup
	others.Go(func() {
		err := sc.Run(t.Context(), "held", func(ctx context.Context, h *scope.Held) error {
			return h.Put(ctx, []byte("second"), nil)
		}, nil)
		if err != nil {
			t.Errorf("Run() of the next holder = %v", err)
		}
	})
	others.Go(func() {
		_, err := sc.Edit(t.Context(), blobOf(0), func(s *eventstream.Stream) error { return s.SetAttrs("other", "1") })
		if err != nil {
			t.Errorf("Edit() of the next holder = %v", err)
		}
	})
	others.Wait()

	signal(t, cmd, syscall.SIGCONT)
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	var printed []string
	for lines.Scan() {
		printed = append(printed, lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// The edit ran a second time, on what the next holder had written.
	got := strings.Join(printed, "; ")
	if !strings.Contains(got, "run: true") || !strings.Contains(got, "edit: 2 <nil>") {
		t.Errorf("the stopped process said %q, want its lease lost and its edit run twice", got)
	}
	object, err := sc.Store().Get(t.Context(), "held", nil)
	if err != nil || string(object.Body) != "second" {
		t.Errorf("the blob has %q, %v; want what the next holder wrote", object.Body, err)
	}
	snapshot, err := sc.Read(t.Context(), blobOf(0))
	if err != nil {
		t.Fatal(err)
	}
	if s := snapshot.Stream; s.Attr("other") != "1" || s.Attr("stopped") != "saw 1" {
		t.Errorf("the stream is %s, want both edits, the stopped one on top", s.Bytes())
	}
}

func signal(t *testing.T, cmd *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func TestProcess_FiftyAtOnce(t *testing.T) {
	const processes = 50
	path := filepath.Join(t.TempDir(), "store.db")
	var commands []*exec.Cmd
	var outputs []*bufio.Scanner
	for range processes {
		cmd, lines, _ := startChild(t, "create and count", path)
		commands, outputs = append(commands, cmd), append(outputs, lines)
	}
	seen := map[string]bool{}
	for i, cmd := range commands {
		for outputs[i].Scan() {
			seen[outputs[i].Text()] = true
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if len(seen) != processes {
		t.Errorf("%d different numbers were counted by %d processes", len(seen), processes)
	}
}
