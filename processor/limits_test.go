package processor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// gauge counts how many handlers run at a time, over all processes.
type gauge struct{ now, most, done atomic.Int32 }

// handler is busy for d and then passes its input on.
func (g *gauge) handler(d time.Duration) processor.Handler {
	return func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
		now := g.now.Add(1)
		defer g.now.Add(-1)
		for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
		}
		time.Sleep(d)
		g.done.Add(1)
		return square(ctx, task)
	}
}

// peak is the most that ran at a time since the last call.
func (g *gauge) peak() int32 { return g.most.Swap(g.now.Load()) }

// limited is squares with a limit for the whole run.
func limited(t *testing.T, square processor.Handler, n int) *processor.Pipeline {
	return pipeline(t,
		processor.Step{Name: "Split", Handler: splitNumbers},
		processor.Step{Name: "Square", Handler: square, RunConcurrency: n},
		processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
	)
}

func TestLimit_HoldsOverProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var g gauge
		pl := limited(t, g.handler(100*time.Millisecond), 3)
		for range 3 {
			w.process(nil).work(&processor.WorkOptions{Slots: 4}, pl)
		}
		p := w.process(nil)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", 60), eventstream.Completed, false, "73810")
		if most := g.peak(); most != 3 {
			t.Errorf("%d handlers ran at a time, want 3", most)
		}
		// 60 branches of 100 ms, three at a time, take 2 s at least.
		if took := time.Since(begin); took < 2*time.Second || took > 6*time.Second {
			t.Errorf("the run took %v, want little more than 2 s", took)
		}
	})
}

func TestSetLimit_WhileTheRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var g gauge
		pl := limited(t, g.handler(time.Second), 2)
		for range 2 {
			w.process(nil).work(&processor.WorkOptions{Slots: 8}, pl)
		}
		p := w.process(nil)
		p.start(pl, "r", 200)
		for _, step := range []struct{ limit, want int }{{5, 5}, {1, 1}, {0, 16}, {3, 3}} {
			if err := p.SetLimit(t.Context(), "r", "Square", step.limit, "ann"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second) // what runs ends
			g.peak()
			time.Sleep(5 * time.Second)
			if most := g.peak(); int(most) != step.want {
				t.Errorf("%d handlers run at a time under a limit of %d, want %d", most, step.limit, step.want)
			}
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "2686700")
		if n := g.done.Load(); n != 200 {
			t.Errorf("%d branches ran, want each of 200 once", n)
		}
	})
}

// A stream all of whose steps are at their limits is left alone, although events
// of it wait and the worker has slots to spare; other runs go on.
func TestLimit_CostsNothingWhereItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := limited(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Stream == "slow" {
				time.Sleep(10 * time.Minute)
			}
			return square(ctx, task)
		}, 1)
		spy := storetest.NewFaults(w.st, nil)
		p := w.processOn(spy, nil)
		p.work(&processor.WorkOptions{Slots: 8}, pl)
		p.start(pl, "slow", 2)
		time.Sleep(time.Minute)
		before := spy.Counts()["acquire"]
		time.Sleep(8 * time.Minute)
		if n := spy.Counts()["acquire"] - before; n > 0 {
			t.Errorf("%d leases were asked for in 8 minutes in which nothing could be claimed", n)
		}
		begin := time.Now()
		wantEnd(t, p.run(pl, "quick", 3), eventstream.Completed, false, "14")
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("a run beside the one at its limit took %v", took)
		}
		wantEnd(t, p.await("slow"), eventstream.Completed, false, "5")
	})
}

func TestSetLimit_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		if err := p.SetLimit(t.Context(), "r", "Square", 1, ""); !errors.Is(err, processor.ErrNoRun) {
			t.Errorf("SetLimit of no run = %v, want ErrNoRun", err)
		}
		p.start(pl, "r", 1)
		for _, bad := range []struct {
			step string
			n    int
			want error
		}{{"Square", -1, eventstream.ErrValue}, {"", 1, processor.ErrName}, {"a b", 1, processor.ErrName}} {
			if err := p.SetLimit(t.Context(), "r", bad.step, bad.n, ""); !errors.Is(err, bad.want) {
				t.Errorf("SetLimit(%q, %d) = %v, want %v", bad.step, bad.n, err, bad.want)
			}
		}
		if limits := p.stream("r").Limits(); len(limits) > 0 {
			t.Errorf("what was refused left limits %v", limits)
		}
	})
}
