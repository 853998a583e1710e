package processor_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

var errCut = errors.New("connection refused")

// cutStore is a store that a process can be cut off from, as if it were dead: it
// goes on running, but nothing of it arrives any more.
type cutStore struct {
	store.Store
	cut atomic.Bool
}

func (s *cutStore) Local() bool { return true }

func (s *cutStore) check() error {
	if s.cut.Load() {
		return &store.Error{Op: "request", Err: errCut}
	}
	return nil
}

func (s *cutStore) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, name, c)
}

func (s *cutStore) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Store.Put(ctx, name, body, o)
}

func (s *cutStore) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Store.Stat(ctx, name, c)
}

func (s *cutStore) Delete(ctx context.Context, name string, c *store.Conditions) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, name, c)
}

func (s *cutStore) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	if err := s.check(); err != nil {
		return func(yield func(*store.Info, error) bool) { yield(nil, err) }
	}
	return s.Store.List(ctx, prefix)
}

func (s *cutStore) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Store.Lease(ctx, name, r)
}

// cutOff starts a process with a worker that can be cut off.
func cutOff(w *world, pl *processor.Pipeline) (cut func()) {
	st := &cutStore{Store: w.st}
	workOn(w, st, pl)
	return func() { st.cut.Store(true) }
}

func TestDeath_EventsRunElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var zombies atomic.Int32
		hang := squares(t, func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			zombies.Add(1)
			return processor.Complete(-1000), nil
		})
		p := w.process(nil)
		p.start(hang, "r", 3)
		cut := cutOff(w, hang)
		time.Sleep(time.Second)
		if running := p.stream("r").Progress().Inprocess; running != 4 {
			t.Fatalf("%d events are inprocess, want the splitter and 3 branches", running)
		}
		cut()
		died := time.Now()
		pl := squares(t, square)
		p.work(nil, pl)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		// The worker may have renewed its lease at the moment before it was cut off;
		// the one who sweeps may have to wait for the sweep's lease as well.
		if took := time.Since(died); took > 2*(15+2)*time.Second {
			t.Errorf("the dead worker's events were done after %v, want a lease and a sweep, twice at most", took)
		}
		e := p.stream("r").Event("01.00")
		if e.Attempt() != 2 || e.Failures() != 1 || len(e.Attempts()) != 1 {
			t.Errorf("event 01.00: attempt %d, failures %d, %v; want the death counted once", e.Attempt(), e.Failures(), e.Attempts())
		}
		if zombies.Load() != 3 {
			t.Errorf("%d handlers of the dead worker were stopped, want 3", zombies.Load())
		}
	})
}

// A worker that comes back after it was taken for dead must not change anything.
func TestDeath_ZombieIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := make(chan struct{})
		stubborn := squares(t, func(context.Context, *processor.Task) (processor.Outcome, error) {
			<-release // it does not look at its context
			return processor.Complete(-1000), nil
		})
		st := &cutStore{Store: w.st}
		old := w.processOn(st, nil)
		old.work(nil, stubborn)
		old.start(stubborn, "r", 3)
		time.Sleep(time.Second)
		st.cut.Store(true)
		p := w.process(nil)
		pl := squares(t, square)
		p.work(nil, pl)
		time.Sleep(13 * time.Second) // its lease still stands
		if done := p.stream("r").Progress().Completed; done != 0 {
			t.Errorf("%d events were done while the worker's lease stood, want 0", done)
		}
		time.Sleep(2 * time.Minute)
		st.cut.Store(false)
		close(release)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		time.Sleep(time.Minute)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
	})
}

func TestSweep_EndsRunsPastTheirDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Wait(0), nil
		}})
		p.work(nil, pl)
		_, err := p.Start(t.Context(), pl, nil, &processor.StartOptions{Name: "r", Deadline: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		end := p.await("r")
		wantEnd(t, end, eventstream.Aborted, false, "")
		if took := time.Since(begin); end.Msg != "deadline" || took < time.Minute || took > time.Minute+5*time.Second {
			t.Errorf("ended after %v: %q, want the deadline of a minute", took, end.Msg)
		}
	})
}

func TestSweep_ClosesSplits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Split("Half", 1, 2, 3).Join("Sum").Timeout(time.Minute), nil
			}},
			processor.Step{Name: "Half", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				if task.Event == "02.00" {
					return processor.Wait(0), nil
				}
				return processor.Complete(task.Input), nil
			}},
			processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, true, "4")
		if e := p.stream("r").Event("02.00"); e.Status() != eventstream.Canceled || e.Attr("by") != eventstream.ByTimeout {
			t.Errorf("event 02.00 is %v by %q, want canceled by the timeout", e.Status(), e.Attr("by"))
		}
	})
}
