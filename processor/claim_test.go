package processor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// A stream whose lease somebody holds, by hand or for good, holds up its own work
// and no other.
func TestWork_GoesOnBesideALeasedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := squares(t, square)
		p.start(pl, "held", 4)
		lease, err := w.st.Lease(t.Context(), processor.BlobOf("held"), &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.LeaseInfinite})
		if err != nil {
			t.Fatal(err)
		}
		p.work(nil, pl)
		for _, name := range []string{"a", "b"} {
			begin := time.Now()
			wantEnd(t, p.run(pl, name, 4), eventstream.Completed, false, "30")
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("run %q took %v beside one that is leased", name, d)
			}
		}
		_, err = w.st.Lease(t.Context(), processor.BlobOf("held"), &store.LeaseRequest{Action: store.LeaseRelease, ID: lease.ID})
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("held"), eventstream.Completed, false, "30")
	})
}

// A stream whose turn came when the slots had just gone elsewhere is not one that
// has nothing to claim: it gets the next slot that becomes free.
func TestWork_SlotsGoneBeforeTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		begin := time.Now()
		var late time.Duration // when the run that was held began
		pl := pipeline(t,
			processor.Step{Name: "First", Handler: func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
				if t.Stream == "held" {
					late = time.Since(begin)
					return processor.Complete(nil), nil
				}
				time.Sleep(time.Second)
				return processor.Split("Second", 1, 2), nil
			}},
			processor.Step{Name: "Second", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				time.Sleep(600 * time.Millisecond)
				return processor.Complete(nil), nil
			}},
		)
		p.work(&processor.WorkOptions{Slots: 2}, pl)
		p.start(pl, "a", nil)
		synctest.Wait()
		w.process(nil).start(pl, "held", nil) // the worker finds it in a listing
		lease, err := w.st.Lease(t.Context(), processor.BlobOf("held"), &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.LeaseInfinite})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond) // both slots are with the branches of a
		_, err = w.st.Lease(t.Context(), processor.BlobOf("held"), &store.LeaseRequest{Action: store.LeaseRelease, ID: lease.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.await("held")
		if free := 1600 * time.Millisecond; late < free || late > free+50*time.Millisecond {
			t.Errorf("the run began after %v, want it when a slot was free, after %v", late, free)
		}
	})
}

// commits counts the writes of one blob, over a store that takes its time. In a bubble
// that time passes only when nobody has anything left to do, so that whoever could
// come meanwhile has come.
type commits struct {
	store.Store
	blob string
	n    atomic.Int32
}

func (*commits) Local() bool { return true }

func (s *commits) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if name == s.blob {
		s.n.Add(1)
	}
	time.Sleep(time.Millisecond)
	return s.Store.Put(ctx, name, body, o)
}

func (s *commits) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	time.Sleep(time.Millisecond)
	return s.Store.Lease(ctx, name, r)
}

// One commit carries a split and the claims of its branches for all slots; the next
// ones the outcomes of all handlers and what they go on with.
func TestWork_CommitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		counted := &commits{Store: w.st, blob: processor.BlobOf("r")}
		p := w.processOn(counted, nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(time.Second)
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 50}, pl)
		wantEnd(t, p.run(pl, "r", 200), eventstream.Completed, false, "2686700")
		// Start, claim, split; the outcomes of four rounds; outcome of the sum.
		if n := counted.n.Load(); n != 8 {
			t.Errorf("200 branches in 50 slots took %d commits, want 8", n)
		}
	})
}
