package processor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// touches reports whether a call has to do with a run: its documents and payloads.
func touches(c storetest.Call) bool {
	return strings.HasPrefix(c.Name, "streams/r") || strings.HasPrefix(c.Name, "payload/")
}

// failNth fails the nth call that touches the run, carried out or not.
func failNth(n int32, apply bool) (hook storetest.Hook, count *atomic.Int32) {
	count = new(atomic.Int32)
	return func(c storetest.Call) (bool, error) {
		if touches(c) && count.Add(1) == n {
			return apply, errCut
		}
		return true, nil
	}, count
}

// wantOneJoin checks that a run that went wrong and was repaired any number of times
// is as one in which nothing went wrong.
func wantOneJoin(t *testing.T, p *process, what string) {
	t.Helper()
	s := p.stream("r")
	joins := 0
	for e := range s.Events() {
		if e.Topic() == "Sum" && !e.Superseded() {
			joins++
		}
	}
	if joins != 1 {
		t.Errorf("%s: the join was created %d times", what, joins)
	}
	for e := range s.Batches() {
		branches, ok, failed := e.Branches()
		if ok+failed != branches {
			t.Errorf("%s: batch event %s counts %d and %d of %d branches", what, e.ID(), ok, failed, branches)
		}
	}
}

// failureStep is how many calls are passed over between two that the tests fail.
func failureStep() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// Every call of the worker fails once, with and without effect, and the work goes
// on.
func TestWide_EveryCallFailsOnce(t *testing.T) {
	run := func(t *testing.T, n int32, apply bool) int32 {
		var calls int32
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			hook, count := failNth(n, apply)
			p := w.process(nil)
			faulty := w.processOn(storetest.NewFaults(w.st, hook), nil)
			pl := squares(t, square)
			faulty.work(&processor.WorkOptions{Slots: 3}, pl)
			wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, false, "650")
			calls = count.Load()
			wantOneJoin(t, p, fmt.Sprintf("call %d, carried out: %v", n, apply))
		})
		return calls
	}
	calls := int(run(t, -1, false))
	for n := 1; n <= calls; n += failureStep() {
		run(t, int32(n), false)
		run(t, int32(n), true)
	}
	t.Logf("%d calls", calls)
}

// A worker is cut off after every write, and another one takes over.
func TestWide_DeathAtEveryWrite(t *testing.T) {
	survived := false
	for left := int32(0); !survived; left++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			pl := squares(t, square)
			p.start(pl, "r", 12)
			st := &stopStore{cutStore: cutStore{Store: w.st}}
			st.left.Store(left)
			cutWorker(w, st, pl)
			time.Sleep(time.Second)
			survived = p.stream("r").IsDone()
			st.cut.Store(true)
			p.work(nil, pl)
			wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
			wantOneJoin(t, p, fmt.Sprintf("after write %d", left))
		})
		if left > 200 {
			t.Fatal("the worker needs more than 200 writes")
		}
	}
}

// cutWorker starts a worker over a store that will be cut off.
func cutWorker(w *world, st store.Store, pl *processor.Pipeline) {
	p := w.processOn(st, nil)
	ctx, stop := context.WithCancel(context.Background())
	before := p.stop
	p.stop = func() { stop(); before() }
	p.done.Go(func() { _ = p.Work(ctx, &processor.WorkOptions{Grace: -1, Slots: 3}, pl) })
}

// A retry of what failed survives the failure of any call, whether of who asks for
// it or of the worker that carries it out.
func TestWide_RetrySurvivesAnyFailure(t *testing.T) {
	run := func(t *testing.T, n int32, apply bool) int32 {
		var calls int32
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var broken atomic.Bool
			broken.Store(true)
			pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				if broken.Load() && (strings.HasPrefix(task.Event, "02.00/") || task.Event == "03.00/01.00") {
					return processor.Abort("broken"), nil
				}
				return square(ctx, task)
			})
			var armed atomic.Bool
			hook, count := failNth(n, apply)
			p := w.process(nil)
			faulty := w.processOn(storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
				if !armed.Load() {
					return true, nil
				}
				return hook(c)
			}), nil)
			faulty.work(&processor.WorkOptions{Slots: 3}, pl)
			p.start(pl, "r", 12)
			p.await("r")
			broken.Store(false)
			armed.Store(true)
			what := fmt.Sprintf("call %d, carried out: %v", n, apply)
			if _, err := faulty.Retry(t.Context(), "r", nil); err != nil {
				if !errors.Is(err, errCut) {
					t.Fatalf("%s: Retry() = %v", what, err)
				}
				_, err := p.Retry(t.Context(), "r", nil)
				if err != nil && !errors.Is(err, eventstream.ErrNothingToReopen) {
					t.Fatalf("%s: Retry() again = %v", what, err)
				}
			}
			wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
			calls = count.Load()
			wantOneJoin(t, p, what)
		})
		return calls
	}
	calls := int(run(t, -1, false))
	for n := 1; n <= calls; n += failureStep() {
		run(t, int32(n), false)
		run(t, int32(n), true)
	}
	t.Logf("%d calls", calls)
}
