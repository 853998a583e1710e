package processor_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// hangs is a handler that works until it is stopped.
func hangs(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
	<-ctx.Done()
	return processor.Outcome{}, ctx.Err()
}

// takeover is a worker that dies while it works on all branches of a run.
type takeover struct {
	far     bool // the store is
	sweeper bool // the worker that dies has the sweep
}

// took is how long the branches waited until they were done elsewhere. The worker
// dies some time after it began.
func (o takeover) took(t *testing.T, after time.Duration) time.Duration {
	w := newWorld(t)
	at := func(st store.Store) store.Store {
		if o.far {
			return slowStore{st}
		}
		return st
	}
	network := membus.New() // without one, each poll would come on top
	p, dying := w.processOn(at(w.st), &processor.Options{Bus: network.Join()}), &cutStore{Store: w.st}
	if !o.sweeper {
		idle := w.processOn(at(w.st), &processor.Options{Bus: network.Join()})
		idle.work(nil, pipeline(t, processor.Step{Name: "Other", Handler: square}))
		time.Sleep(time.Second)
	}
	p.start(squares(t, square), "r", 3)
	workOn(w, at(dying), squares(t, hangs))
	time.Sleep(time.Second)
	if n := p.stream("r").Progress().Inprocess; n != 4 {
		t.Fatalf("%d events are inprocess, want the splitter and all branches", n)
	}
	p.work(nil, squares(t, square))
	time.Sleep(after)
	dying.cut.Store(true)
	began := time.Now()
	wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
	return time.Since(began)
}

// The events of a worker that died are taken over within the duration of its lease
// and a sweep, even if it was the one that swept.
func TestTakeover_WithinALeaseAndASweep(t *testing.T) {
	for name, c := range map[string]struct {
		takeover
		want time.Duration
	}{
		"local":          {takeover{}, (15 + 2) * time.Second},
		"local sweeper":  {takeover{sweeper: true}, (15 + 2) * time.Second},
		"remote":         {takeover{far: true}, (60 + 30) * time.Second},
		"remote sweeper": {takeover{far: true, sweeper: true}, (60 + 30) * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 6 { // between two renewals
				synctest.Test(t, func(t *testing.T) {
					const slack = 2 * time.Second // for what is decided on the time of another clock
					if took := c.took(t, time.Duration(i)*3700*time.Millisecond); took > c.want+slack {
						t.Errorf("the events were done after %v, want %v", took, c.want)
					}
				})
			}
		})
	}
}

// Branches that queue for longer than their step may take do not time out: their
// time begins with the claim.
func TestTimeout_NotWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const branches = 10_000
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: splitNumbers},
			processor.Step{Name: "Square", Timeout: 30 * time.Second, Handler: func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				time.Sleep(20 * time.Second)
				return square(ctx, task)
			}},
			processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
		)
		p.work(&processor.WorkOptions{Slots: 1000}, pl)
		began := time.Now()
		wantEnd(t, p.run(pl, "r", branches), eventstream.Completed, false, "333383335000")
		if took := time.Since(began); took < 200*time.Second {
			t.Errorf("the run took %v, want ten rounds of 20 s", took)
		}
		for e := range p.stream("r").Events() {
			if e.Failures() > 0 || e.Attempt() != 1 {
				t.Errorf("event %s: %d attempts, %d failures", e.ID(), e.Attempt(), e.Failures())
			}
		}
	})
}

// workOn starts a process with a worker on a store that may go away.
func workOn(w *world, st store.Store, pl *processor.Pipeline) {
	sc := scope.New(st, nil)
	p := processor.New(sc, nil)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// It ends with an error, sooner or later, when it is cut off: it cannot
		// register again.
		_ = p.Work(ctx, &processor.WorkOptions{Grace: -1}, pl)
	}()
	w.t.Cleanup(func() {
		stop()
		<-ended
		_ = sc.Close()
	})
}

// Whoever was taken over cannot come back: its lease is broken before its events are
// given to others, since one that has only expired could be renewed.
func TestTakeover_BreaksTheExpiredLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := pipeline(t, processor.Step{Name: "Work", Handler: hangs})
		p.start(pl, "r", nil)
		if _, err := w.st.Put(t.Context(), "workers/asleep", []byte("{}"), nil); err != nil {
			t.Fatal(err)
		}
		lease, err := w.st.Lease(t.Context(), "workers/asleep", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: 15 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		behind(t, p, processor.BlobOf("r"), func(s *eventstream.Stream) error { return s.Claim(s.Root(), "asleep") })
		time.Sleep(16 * time.Second)
		p.work(nil, pl)
		time.Sleep(5 * time.Second)
		if e := p.stream("r").Root(); e.Failures() != 1 || e.Key() == "asleep" {
			t.Fatalf("the event is with worker %q after %d failures, want it taken over", e.Key(), e.Failures())
		}
		_, err = w.st.Lease(t.Context(), "workers/asleep", &store.LeaseRequest{Action: store.LeaseRenew, ID: lease.ID})
		if err == nil {
			t.Error("the lease of a worker whose events were taken over can be renewed")
		}
	})
}

// A worker that begins and claims at any moment of a sweep is not taken for dead.
func TestTakeover_NotFromWhoHasJustBegun(t *testing.T) {
	eachMoment(t, func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func())) {
		sweeper, begins := w.processOn(slowStore{hooked}, nil), w.process(nil)
		pl := pipeline(t, processor.Step{Name: "Work", Handler: hangs})
		begins.start(pl, "r", nil)
		var over atomic.Bool // the moment, when it comes, is of the sweeper's end
		wait := meanwhile(func() {
			if over.Load() {
				return
			}
			begins.work(nil, pl)
			for !begins.stream("r").Root().Running() {
				time.Sleep(time.Millisecond)
			}
		})
		sweeper.work(nil, pipeline(t, processor.Step{Name: "Other", Handler: square}))
		time.Sleep(75 * time.Second) // three sweeps
		over.Store(true)
		wait()
		if e := begins.stream("r").Root(); e.Failures() > 0 || e.Attempt() > 1 {
			t.Errorf("the event is in attempt %d, after %d failures: %v", e.Attempt(), e.Failures(), e.Attempts())
		}
	})
}
