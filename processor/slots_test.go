package processor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestSetSlots_WhileTheWorkerWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var g gauge
		pl := squares(t, g.handler(time.Second))
		w.process(nil).work(&processor.WorkOptions{ID: "w1", Slots: 4}, pl)
		p := w.process(nil)
		p.start(pl, "r", 300)
		time.Sleep(time.Second)
		for _, slots := range []int{1, 8, 0, 3} {
			if err := p.SetSlots(t.Context(), "w1", slots, "ann"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(7 * time.Second) // a third of the lease, and what runs ends
			g.peak()
			time.Sleep(5 * time.Second)
			if most := g.peak(); int(most) != slots {
				t.Errorf("%d handlers run at a time with %d slots", most, slots)
			}
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "9045050")
		if n := g.done.Load(); n != 300 {
			t.Errorf("%d branches ran, want each of 300 once: handlers are left to finish", n)
		}
	})
}

// With no slots a worker takes nothing, and costs no more than an idle one
// although there is work; with slots again it goes on.
func TestSetSlots_DrainedWorkerIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		spy := storetest.NewFaults(w.st, nil)
		w.processOn(farFaults{spy}, nil).work(&processor.WorkOptions{ID: "w1"}, pl)
		p := w.processOn(slowStore{w.st}, nil)
		time.Sleep(time.Minute)
		if err := p.SetSlots(t.Context(), "w1", 0, "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		p.start(pl, "r", 3)
		time.Sleep(10 * time.Minute)
		before := spy.Total()
		const minutes = 30
		time.Sleep(minutes * time.Minute)
		if n := spy.Total() - before; n > 11*minutes { // 10, and 1 for the open run
			t.Errorf("a drained worker made %d requests in %d minutes: %v", n, minutes, spy.Counts())
		}
		if status := p.stream("r").Root().Status(); status != eventstream.Init {
			t.Errorf("the run's root is %v, want it untouched", status)
		}
		if err := p.SetSlots(t.Context(), "w1", 2, "ann"); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		if took := time.Since(begin); took > 90*time.Second {
			t.Errorf("the run took %v once the worker had slots", took)
		}
	})
}

func TestSetSlots_NoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		if err := p.SetSlots(t.Context(), "w1", 1, ""); !errors.Is(err, processor.ErrNoWorker) {
			t.Errorf("SetSlots of no worker = %v, want ErrNoWorker", err)
		}
		if _, err := w.st.Put(t.Context(), "workers/w1", []byte("{}"), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.SetSlots(t.Context(), "w1", 1, ""); !errors.Is(err, processor.ErrNoWorker) {
			t.Errorf("SetSlots of a dead worker = %v, want ErrNoWorker", err)
		}
		if got := w.blobs("workers/"); len(got) != 1 {
			t.Errorf("blobs of workers = %q, want no setting", got)
		}
		for _, id := range []string{"", "../x", "w1.set", "w1.log"} {
			if err := p.SetSlots(t.Context(), id, 1, ""); !errors.Is(err, processor.ErrName) {
				t.Errorf("SetSlots(%q) = %v, want ErrName", id, err)
			}
		}
		if err := p.SetSlots(t.Context(), "w1", -1, ""); err == nil {
			t.Error("SetSlots to -1 = nil, want an error")
		}
	})
}

// A worker that begins anew under another ID, since it lost its lease, keeps the
// slots that it was given.
func TestSetSlots_OutlastsALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var g gauge
		pl := squares(t, g.handler(time.Second))
		w.process(nil).work(&processor.WorkOptions{ID: "w1", Slots: 6}, pl)
		p := w.process(nil)
		p.start(pl, "r", 200)
		time.Sleep(time.Second)
		if err := p.SetSlots(t.Context(), "w1", 2, "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		w.breakLease("workers/w1")
		time.Sleep(20 * time.Second)
		workers := p.workers()
		if len(workers) < 1 || workers[len(workers)-1].ID == "w1" || workers[len(workers)-1].Slots != 2 {
			t.Errorf("workers = %+v, want a new one with 2 slots", workers)
		}
		g.peak()
		time.Sleep(10 * time.Second)
		if most := g.peak(); most != 2 {
			t.Errorf("%d handlers run at a time, want 2", most)
		}
	})
}

// What stands in the place of a setting and is none changes nothing.
func TestSetSlots_UnreadableSetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		p := w.process(nil)
		p.work(&processor.WorkOptions{ID: "w1", Slots: 3}, pl)
		time.Sleep(time.Second)
		for _, bad := range []string{"", "{", `{"slots":-1}`, `{"slots":"many"}`} {
			if _, err := w.st.Put(t.Context(), "workers/w1.set", []byte(bad), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(6 * time.Second)
			wantEnd(t, p.run(pl, "r"+time.Now().Format("150405"), 3), eventstream.Completed, false, "14")
			if got := p.workers(); len(got) != 1 || got[0].Slots != 3 || got[0].Unreadable == nil {
				t.Errorf("workers with the setting %q = %+v, want 3 slots and why it is not read", bad, got)
			}
		}
	})
}

func TestWork_IDsThatCouldBeMistaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		for _, id := range []string{"w.set", "w.log", "a b"} {
			if err := p.Work(context.Background(), &processor.WorkOptions{ID: id}, squares(t, square)); !errors.Is(err, processor.ErrName) {
				t.Errorf("Work() as %q = %v, want ErrName", id, err)
			}
		}
	})
}
