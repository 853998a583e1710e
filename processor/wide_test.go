package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// wideTests is the prefix of the names of tests in which any split of more than
// wideBranches branches is wide.
const (
	wideTests    = "TestWide"
	wideBranches = 5
)

// The ordinary tests, with splits as wide.
func TestWide_OrdinaryTests(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"SplitsAndAggregates": TestRun_SplitsAndAggregates,
		"EmptySplit":          TestRun_EmptySplit,
		"SharedByProcesses":   TestRun_SharedByProcesses,
		"Heartbeat":           TestHeartbeat_IsWhatTheNextAttemptGoesOnFrom,
		"Fair":                TestWork_IsFairBetweenRuns,
		"BigPayloads":         TestRun_BigPayloads,
	} {
		t.Run(name, test)
	}
}

func TestWide_Failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, processor.Func(func(_ context.Context, n int) (int, error) {
			if n == 8 {
				return 0, errors.New("eight is not to my taste")
			}
			return n * n, nil
		}))
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, true, "586")
		e := p.stream("r").Event("02.00")
		branches, ok, failed := e.Branches()
		if got := fmt.Sprint(e.Status(), e.WithError(), branches, ok, failed); got != "completed true 5 4 1" {
			t.Errorf("batch event 02.00 is %s", got)
		}
		if got := p.w.blobs("streams/"); len(got) != 4 {
			t.Errorf("the documents are %q, want the run's and 3 children", got)
		}
	})
}

func TestWide_RetryOfOneBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var broken atomic.Bool
		var runs atomic.Int32
		broken.Store(true)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			runs.Add(1)
			if broken.Load() && strings.HasPrefix(task.Event, "02.00/") {
				return processor.Abort("broken"), nil
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, true, "320")
		broken.Store(false)
		ids, err := p.Retry(t.Context(), "r", &processor.RetryOptions{Below: "02.00/03.00", By: "me"})
		if err != nil || fmt.Sprint(ids) != "[02.00/03.00]" {
			t.Fatalf("Retry() = %v, %v", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, true, "384")
		ids, err = p.Retry(t.Context(), "r", nil)
		if err != nil || fmt.Sprint(ids) != "[02.00/01.00 02.00/02.00 02.00/04.00 02.00/05.00]" {
			t.Fatalf("Retry() = %v, %v", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
		if runs.Load() != 17 {
			t.Errorf("%d branches were run, want 12 and 5 again", runs.Load())
		}
		if _, err := p.Retry(t.Context(), "r", nil); !errors.Is(err, eventstream.ErrNothingToReopen) {
			t.Errorf("Retry() = %v, want ErrNothingToReopen", err)
		}
		ids, err = p.Retry(t.Context(), "r", &processor.RetryOptions{From: "01.00"})
		if err != nil || fmt.Sprint(ids) != "[01.00]" {
			t.Fatalf("Retry() = %v, %v", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
		if runs.Load() != 22 {
			t.Errorf("%d branches were run, want 5 more", runs.Load())
		}
		ids, err = p.Retry(t.Context(), "r", &processor.RetryOptions{From: "03.00/01.00", Input: []byte("100")})
		if err != nil || fmt.Sprint(ids) != "[03.00/01.00]" {
			t.Fatalf("Retry() = %v, %v", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, fmt.Sprint(650-121+10000))
	})
}

// The parts of a wide split keep what its branches differ in.
func TestWide_UnlikeBranches(t *testing.T) {
	split := func(context.Context, *processor.Task) (processor.Outcome, error) {
		branches := []processor.Branch{
			{Step: "A", Message: 1}, {Step: "A", Message: 2}, {Step: "A"}, {Step: "A", Message: json.RawMessage("null")},
			{Step: "A", Message: 3}, {Step: "B", Message: 4}, {Step: "B", Message: "<&>\u2028"}, {Step: "A", Message: 5, Delay: time.Second},
			{Step: "A", Message: 6, Delay: time.Second}, {Step: "A", Message: map[string]int{"b": 1, "a": 2}}, {Step: "B"}, {Step: "B"},
		}
		return processor.SplitTo(branches...).Join("Join"), nil
	}
	tell := func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
		return processor.Complete(t.Step + string(t.Input)), nil
	}
	join := processor.Aggregate(func(_ context.Context, results iter.Seq2[string, error]) (string, error) {
		var all []string
		for r, err := range results {
			if err != nil {
				return "", err
			}
			all = append(all, r)
		}
		return strings.Join(all, " "), nil
	})
	outputs := map[int]string{}
	for _, wide := range []int{100, 1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			p := newWorld(t).process(nil)
			p.SetWide(wide, 1<<20)
			pl := pipeline(t, processor.Step{Name: "Split", Handler: split}, processor.Step{Name: "A", Handler: tell},
				processor.Step{Name: "B", Handler: tell}, processor.Step{Name: "Join", Handler: join})
			p.work(nil, pl)
			outputs[wide] = string(p.run(pl, "r", nil).Output)
		})
	}
	for wide, output := range outputs {
		if output != outputs[100] || !strings.Contains(output, "A1 A2 A Anull A3 B4") {
			t.Errorf("parts of %d: %s, want %s", wide, output, outputs[100])
		}
	}
}

func TestWide_ArchiveAndPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil) // a local one would be polled hundreds of thousands of times
		pl := squares(t, square)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, false, "650")
		time.Sleep(62 * time.Minute)
		if got := w.blobs("streams/"); len(got) != 0 {
			t.Errorf("after the hour the open documents are %q", got)
		}
		if got := w.blobs("archive/"); len(got) != 4 {
			t.Errorf("after the hour the archive has %q", got)
		}
		purged, err := p.Purge(t.Context(), "r")
		if err != nil || purged.Children != 3 || purged.Payloads != 3 {
			t.Errorf("Purge() = %+v, %v", purged, err)
		}
		for _, prefix := range []string{"streams/", "archive/", "payload/"} {
			if got := w.blobs(prefix); len(got) != 0 {
				t.Errorf("the purge left %q", got)
			}
		}
	})
}

func TestOptions_Wide(t *testing.T) {
	for _, c := range []struct{ wide, branches, documents int }{
		{0, 1000, 1}, {0, 1001, 3}, {4, 4, 1}, {4, 9, 4}, {-1, 1500, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newWorld(t).process(&processor.Options{Wide: c.wide})
			pl := squares(t, square)
			p.work(&processor.WorkOptions{Slots: 100}, pl)
			n := c.branches
			wantEnd(t, p.run(pl, "r", n), eventstream.Completed, false, fmt.Sprint(n*(n+1)*(2*n+1)/6))
			if got := p.w.blobs("streams/"); len(got) != c.documents {
				t.Errorf("Wide %d: a split into %d has documents %q, want %d", c.wide, n, got, c.documents)
			}
		})
	}
}
