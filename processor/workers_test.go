package processor_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// workers lists the workers.
func (p *process) workers() []processor.WorkerInfo {
	p.w.t.Helper()
	var workers []processor.WorkerInfo
	for info, err := range p.Workers(p.w.t.Context()) {
		if err != nil {
			p.w.t.Fatalf("Workers() = %v", err)
		}
		workers = append(workers, info)
	}
	return workers
}

// breakLease takes a lease away from whoever has it.
func (w *world) breakLease(blob string) {
	w.t.Helper()
	if _, err := w.st.Lease(w.t.Context(), blob, &store.LeaseRequest{Action: store.LeaseBreak}); err != nil {
		w.t.Fatal(err)
	}
}

func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		begin := time.Now()
		first, second := w.process(nil), w.process(nil)
		first.work(&processor.WorkOptions{ID: "w1", Slots: 3}, pl)
		second.work(&processor.WorkOptions{ID: "w1-b", Slots: 2}, pl)
		time.Sleep(time.Second)
		p := w.process(nil)
		if err := p.SetSlots(t.Context(), "w1", 5, "ann"); err != nil {
			t.Fatal(err)
		}
		got := p.workers()
		if len(got) != 2 || got[0].ID != "w1" || got[1].ID != "w1-b" {
			t.Fatalf("Workers() = %+v, want w1 and w1-b", got)
		}
		one := got[0]
		if !one.Alive || one.Slots != 5 || one.Set == nil || one.Set.By != "ann" || one.Unreadable != nil || one.Started.Before(begin) {
			t.Errorf("w1 = %+v, want it alive with the 5 slots that ann gave it", one)
		}
		if !one.Serves(pl.Definition(), "Sum") || one.Serves(pl.Definition(), "Other") || one.Serves("sha256:x", "Sum") {
			t.Errorf("w1 serves %+v, want the steps of the pipeline alone", one.Pipelines)
		}
		if two := got[1]; !two.Alive || two.Slots != 2 || two.Set != nil {
			t.Errorf("w1-b = %+v, want it alive with its 2 slots", two)
		}
		first.stop()
		first.done.Wait()
		if got := w.blobs("workers/"); !slices.Equal(got, []string{"workers/w1-b"}) {
			t.Errorf("blobs of workers after one ended = %q, want its setting gone with it", got)
		}
	})
}

// A worker that ends before it has noticed that its lease was broken takes its blob
// with it all the same: it would be listed as dead for a day.
func TestWorkers_EndsWithABrokenLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log strings.Builder
		p := w.process(&processor.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p.work(&processor.WorkOptions{ID: "w1"}, squares(t, square))
		time.Sleep(time.Second)
		if _, err := w.st.Lease(t.Context(), "workers/w1", &store.LeaseRequest{Action: store.LeaseBreak}); err != nil {
			t.Fatal(err)
		}
		p.stop()
		p.done.Wait()
		if got := w.blobs("workers/"); len(got) != 0 || strings.Contains(log.String(), "WARN") {
			t.Errorf("the worker left %q, and said\n%s", got, log.String())
		}
	})
}

func TestWorkers_DeadAndForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		cut := cutOff(w, pl)
		time.Sleep(time.Second)
		cut()
		time.Sleep(20 * time.Second) // until its lease has run out
		p := w.process(nil)
		for name, body := range map[string]string{"workers/x": "not ours", "workers/y.log": "a log", "workers/z.set": "{}"} {
			if _, err := w.st.Put(t.Context(), name, []byte(body), nil); err != nil {
				t.Fatal(err)
			}
		}
		got := p.workers()
		if len(got) != 2 {
			t.Errorf("Workers() = %+v, want the dead one and x", got)
		}
		for _, info := range got {
			foreign := info.ID == "x"
			if info.Alive || (info.Unreadable != nil) != foreign || info.Serves(pl.Definition(), "Sum") == foreign {
				t.Errorf("Workers() has %+v, want it dead, and unreadable if it is x", info)
			}
		}
	})
}

// A setting from a worker that is long gone does not bind a new one of its ID.
func TestWorkers_ForgetWhatOthersWereTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.st.Put(t.Context(), "workers/w1.set", []byte(`{"slots":0}`), nil); err != nil {
			t.Fatal(err)
		}
		p := w.process(nil)
		pl := squares(t, square)
		p.work(&processor.WorkOptions{ID: "w1"}, pl)
		p.run(pl, "r", 3)
		if got := w.blobs("workers/"); !slices.Equal(got, []string{"workers/w1"}) {
			t.Errorf("blobs of workers = %q, want the old setting gone", got)
		}
	})
}

// What lies beside a worker's blob stays as long as the worker lives, however old
// it is, and goes when the worker has.
func TestWorkers_WhatLiesBesideIsCollectedAfterThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		pl := squares(t, square)
		p.work(&processor.WorkOptions{ID: "alive"}, pl)
		time.Sleep(time.Second)
		for _, name := range []string{"alive.log", "dead", "dead.log", "dead.set", "gone.log", "gone.set"} {
			if _, err := w.st.Put(t.Context(), "workers/"+name, []byte("{}"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.SetSlots(t.Context(), "alive", 2, "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Hour)
		if got := w.blobs("workers/"); len(got) != 8 {
			t.Errorf("within the day the blobs are %q, want all 8", got)
		}
		time.Sleep(30 * time.Hour)
		want := "workers/alive workers/alive.log workers/alive.set"
		if got := strings.Join(w.blobs("workers/"), " "); got != want {
			t.Errorf("after the day the blobs are %q, want %q", got, want)
		}
	})
}

// A worker that is stopped before it has its lease, as by a run that had ended
// already, is not listed as dead after that.
func TestWorker_StoppedBeforeItBegins(t *testing.T) {
	for _, op := range []string{"delete", "acquire"} {
		t.Run(op, func(t *testing.T) {
			w := newWorld(t)
			ctx, stop := context.WithCancel(t.Context())
			st := storetest.NewFaults(w.st, func(call storetest.Call) (bool, error) {
				if call.Op == op && ctx.Err() == nil {
					stop()
					return false, ctx.Err()
				}
				return true, nil
			})
			var log strings.Builder
			p := w.processOn(st, &processor.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := p.Work(ctx, nil, squares(t, square)); err != nil {
				t.Errorf("Work() = %v, want nil", err)
			}
			if got := p.workers(); len(got) > 0 {
				t.Errorf("Workers() = %+v after it was stopped, want none", got)
			}
			if log.Len() > 0 {
				t.Errorf("log = %s, want nothing", log.String())
			}
		})
	}
}

// What a foreign hand has put beside the workers is none, and stays where it is.
func TestWorkers_OddNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, blob := range []string{"workers/a b", "workers/<script>", "workers/x/y"} {
			if _, err := w.st.Put(t.Context(), blob, []byte("{}"), nil); err != nil {
				t.Fatal(err)
			}
		}
		p := w.processOn(slowStore{w.st}, nil) // a local one would be polled a million times
		p.work(&processor.WorkOptions{ID: "w1"}, squares(t, square))
		time.Sleep(30 * time.Hour)
		if got := p.workers(); len(got) != 1 || got[0].ID != "w1" {
			t.Errorf("Workers() = %+v, want w1 alone", got)
		}
		if got := w.blobs("workers/"); len(got) != 4 {
			t.Errorf("blobs = %q, want all that were put", got)
		}
	})
}
