package fanout_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// serving is the argument with which this test's program is a process of a
// fan-out, and failing the one with which it ends at once.
const (
	serving = "serve-fanout"
	failing = "fail"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == serving:
		if err := fanout.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) > 1 && os.Args[1] == failing:
		os.Exit(3)
	default:
		os.Exit(m.Run())
	}
}

func program(mode string) fanout.Program {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0], mode)
		cmd.Stderr = os.Stderr
		return cmd
	}
}

func TestMeasure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.db")
	for _, processes := range []int{1, 3} {
		c := fanout.Config{Store: "sqlite:" + file, Name: fmt.Sprint("run", processes), N: 50, Workers: 4, Payload: 200}
		r, err := fanout.Measure(t.Context(), c, processes, program(serving))
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK {
			t.Errorf("%d processes: the sum is wrong: %+v", processes, r)
		}
		if r.Idlest > 50/float64(processes) || r.Busiest < 50/float64(processes) {
			t.Errorf("%d processes handled %v to %v of 50 branches", processes, r.Idlest, r.Busiest)
		}
		// The outcomes of 50 branches alone are 50 edits; each writes its message.
		if r.Edits < 50 || r.Commits < 3 || r.WrittenPerJob < 200 || r.RequestsPerJob < 3./50 {
			t.Errorf("%d processes: too little was counted: %+v", processes, r)
		}
		if r.WallS <= 0 || r.JobsPerS <= 0 || r.CeilingS <= 0 || r.Share <= 0 || r.JoinMS <= 0 || r.LongestWaitMS <= 0 {
			t.Errorf("%d processes: a time is missing: %+v", processes, r)
		}
	}
	wantNothing(t, file, "streams/", "leasebench/", "payload/", "workers/")
}

// wantNothing checks that no blobs with these prefixes were left.
func wantNothing(t *testing.T, file string, prefixes ...string) {
	t.Helper()
	st, err := sqlitestore.Open(file, &sqlitestore.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, prefix := range prefixes {
		for info, err := range store.Store(st).List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s was left in the store", info.Name)
		}
	}
}

func TestMeasure_ProcessFails(t *testing.T) {
	c := fanout.Config{Store: "sqlite:" + filepath.Join(t.TempDir(), "bench.db"), Name: "run", N: 50, Workers: 4}
	if r, err := fanout.Measure(t.Context(), c, 2, program(failing)); err == nil {
		t.Errorf("Measure() = %+v with processes that end at once, want an error", r)
	}
}
