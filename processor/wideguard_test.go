package processor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// What comes late from before a retry changes nothing: neither the report of a
// child's first end, nor the cancel of its first batch event.
func TestWide_LateNewsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var broken, hang atomic.Bool
		broken.Store(true)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if strings.HasPrefix(task.Event, "02.00/") && broken.Load() {
				return processor.Abort("broken"), nil
			}
			for strings.HasPrefix(task.Event, "02.00/") && hang.Load() {
				time.Sleep(time.Second)
			}
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, true, "320")
		report := func() error { return p.Report(t.Context(), "r/02.00", 1, 0, 5) }
		if err := report(); !errors.Is(err, eventstream.ErrNotOwner) {
			t.Errorf("report of what has ended = %v, want ErrNotOwner", err)
		}
		broken.Store(false)
		hang.Store(true)
		if _, err := p.Retry(t.Context(), "r", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if e := p.stream("r").Event("02.00"); !e.Waiting() || e.Attempt() != 2 {
			t.Fatalf("batch event 02.00 is %v in attempt %d, want it to wait in the second", e.Status(), e.Attempt())
		}
		if err := report(); !errors.Is(err, eventstream.ErrNotOwner) {
			t.Errorf("late report = %v, want ErrNotOwner", err)
		}
		if err := p.CancelChild(t.Context(), "r/02.00", 1); err != nil {
			t.Errorf("late cancel = %v", err)
		}
		hang.Store(false)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
	})
}

// The claim of a batch event that a hand gave to another worker comes late to make the
// child: the one that the other has made stays, and stays open for the other's
// attempt.
func TestWide_LateClaimLeavesTheChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		held, open := make(chan struct{}), make(chan struct{})
		var once atomic.Bool
		late := w.processOn(farFaults{storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
			if c.Op == "put" && c.Name == "streams/r/01.00.xml" && once.CompareAndSwap(false, true) {
				close(held)
				<-open
			}
			return true, nil
		})}, nil)
		var stopped atomic.Int32
		pl := fanOut(t, numbers(12, "all"), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Complete(n), n > 1
		}))
		late.work(&processor.WorkOptions{Slots: 1}, pl)
		late.start(pl, "r", nil)
		<-held
		hand{w}.changeEvent("01.00", inTurn(status("init"), unset("key")))
		p := w.process(nil)
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		time.Sleep(time.Second)
		close(open)
		time.Sleep(10 * time.Minute)
		child, err := eventstream.Parse(w.get("streams/r/01.00.xml").Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := child.Attr("attempt"); got != "2" || p.stream("r").Event("01.00").Attempt() != 2 {
			t.Errorf("the child is open for attempt %s, want 2; the batch event is in attempt %d", got, p.stream("r").Event("01.00").Attempt())
		}
	})
}

// A batch event that is claimed again because a worker has died is no retry: what
// failed in its child stays so.
func TestWide_DeathIsNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var runs atomic.Int32
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if strings.HasPrefix(task.Event, "02.00/") {
				runs.Add(1)
				return processor.Abort("broken"), nil
			}
			return square(ctx, task)
		})
		p := w.process(nil)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, true, "320")
		if _, err := p.Retry(t.Context(), "r", nil); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, true, "320")
		if n := runs.Load(); n != 10 {
			t.Fatalf("the branches were run %d times, want 5 and 5 again", n)
		}
		// The parent as it was before the second end was reported, and the worker that
		// waits for it is gone.
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error {
			if _, err := s.Reopen(&eventstream.ReopenOptions{From: s.Event("02.00")}); err != nil {
				return err
			}
			return s.Update(s.Event("02.00"), "reopened", "1")
		})
		wantEnd(t, p.await("r"), eventstream.Completed, true, "320")
		if n := runs.Load(); n != 10 {
			t.Errorf("the branches were run %d times, want no more", n)
		}
	})
}

// Splits end alike however wide they are taken to be.
func TestWide_EndsAsNarrow(t *testing.T) {
	const rounds = 60
	for range rounds {
		seed := rand.Uint64()
		var ends [3]string
		for i, limit := range []int{1000, 1, 3} {
			synctest.Test(t, func(t *testing.T) { ends[i] = endOf(t, seed, limit) })
		}
		if ends[1] != ends[0] || ends[2] != ends[0] {
			t.Errorf("seed %d: %q in one document, %q and %q in several", seed, ends[0], ends[1], ends[2])
		}
	}
}

// endOf runs a split that follows from a seed: so many branches, of which some
// fail, under some policy.
func endOf(t *testing.T, seed uint64, limit int) string {
	dice := rand.New(rand.NewPCG(seed, 1))
	n := dice.IntN(12)
	fails := make([]bool, n+1)
	for i := range fails {
		fails[i] = dice.IntN(4) == 0
	}
	policies := []string{"all", "all", "failfast", "tolerate:1", "tolerate:25%", fmt.Sprintf("first:%d", n+1)}
	p := newWorld(t).process(nil)
	p.SetWide(limit, 1<<20)
	pl := fanOut(t, numbers(n, policies[dice.IntN(len(policies))]), processor.Func(func(_ context.Context, i int) (int, error) {
		if fails[i] {
			return 0, errors.New("no luck")
		}
		return i, nil
	}))
	p.work(nil, pl)
	end := p.run(pl, "r", nil)
	time.Sleep(5 * time.Second)
	wantNoneOpen(t, p)
	return fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output)
}
