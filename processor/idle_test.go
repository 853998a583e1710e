package processor_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// farFaults is a spy that is not local, so that Azure's timing holds.
type farFaults struct{ *storetest.Faults }

func (farFaults) Local() bool { return false }

// Whoever waits for work must not cost more than a request every six seconds.
func TestIdle_RequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		spies := make([]*storetest.Faults, 3)
		for i := range spies {
			spies[i] = storetest.NewFaults(w.st, nil)
			w.processOn(farFaults{spies[i]}, nil).work(nil, pl)
		}
		time.Sleep(10 * time.Minute)
		before := make([]int, len(spies))
		for i, spy := range spies {
			before[i] = spy.Total()
		}
		const minutes = 60
		time.Sleep(minutes * time.Minute)
		for i, spy := range spies {
			if n := spy.Total() - before[i]; n > 10*minutes {
				t.Errorf("idle worker %d made %d requests in %d minutes, want at most 10 a minute: %v", i, n, minutes, spy.Counts())
			}
		}
	})
}

// Whoever runs handlers that take long may cost one request a minute more for each
// stream that it runs, and the one who sweeps for each stream that is open.
func TestIdle_LongHandlers(t *testing.T) {
	for _, streams := range []int{1, 5, 20} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			pl := pipeline(t, processor.Step{Name: "A", Handler: func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
				<-ctx.Done()
				return processor.Outcome{}, ctx.Err()
			}})
			starter := w.process(nil)
			spies := make([]*storetest.Faults, 2)
			for i := range spies {
				spies[i] = storetest.NewFaults(w.st, nil)
				w.processOn(farFaults{spies[i]}, nil).work(&processor.WorkOptions{ID: fmt.Sprintf("w%d", i), Slots: 12, Grace: -1}, pl)
				time.Sleep(time.Minute) // w0 sweeps
			}
			for i := range streams {
				starter.start(pl, fmt.Sprintf("r%d", i), nil)
			}
			time.Sleep(10 * time.Minute)
			runs := map[string]int{}
			for i := range streams {
				runs[starter.stream(fmt.Sprintf("r%d", i)).Root().Key()]++
			}
			runs["w0"] = streams
			before := make([]int, len(spies))
			for i, spy := range spies {
				before[i] = spy.Total()
			}
			const minutes = 60
			time.Sleep(minutes * time.Minute)
			for i, spy := range spies {
				n := spy.Total() - before[i]
				if limit := (10 + runs[fmt.Sprintf("w%d", i)]) * minutes; n > limit {
					t.Errorf("worker w%d made %d requests in %d minutes, want at most %d, of streams %v: %v", i, n, minutes, limit, runs, spy.Counts())
				}
			}
		})
	}
}

// A run with child streams that waits for somebody is not read again and again.
func TestIdle_WideRunThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		spy := storetest.NewFaults(w.st, nil)
		p := w.processOn(farFaults{spy}, nil)
		p.SetWide(2, 1<<20)
		pl := pipeline(t, threeWays(handler(processor.Wait(0)), all, 0)...)
		p.work(nil, pl)
		p.start(pl, "r", nil)
		time.Sleep(10 * time.Minute)
		if n := len(w.blobs("streams/r/")); n != 2 {
			t.Fatalf("the run has %d child streams, want 2", n)
		}
		before := spy.Counts()["get"]
		time.Sleep(time.Hour)
		if n := spy.Counts()["get"] - before; n > 0 {
			t.Errorf("in an hour %d blobs were read, want none: %v", n, spy.Counts())
		}
	})
}

// versions counts how often somebody asks for the version of a local store.
type versions struct {
	*memstore.Store
	asked atomic.Int64
}

func (v *versions) Version(ctx context.Context) (uint64, error) {
	v.asked.Add(1)
	return v.Store.Version(ctx)
}

// On a local store an idle worker looks less often, whatever leases are renewed.
func TestIdle_LocalLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		st := &versions{Store: w.st.(*memstore.Store)}
		w.processOn(st, nil).work(nil, squares(t, square))
		w.process(nil).work(nil, squares(t, square))
		time.Sleep(time.Minute)
		before := st.asked.Load()
		time.Sleep(time.Minute)
		if n := st.asked.Load() - before; n > 21*60 {
			t.Errorf("an idle worker looked %d times in a minute, want 20 times a second at most", n)
		}
	})
}

// An idle worker with doorbells off still finds work within its longest poll.
func TestIdle_FindsWorkWithinAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		worker, starter := w.processOn(slowStore{w.st}, nil), w.processOn(slowStore{w.st}, nil)
		worker.work(nil, pl)
		time.Sleep(time.Hour)
		starter.start(pl, "r", 3)
		begin := time.Now()
		wantEnd(t, starter.await("r"), eventstream.Completed, false, "14")
		if took := time.Since(begin); took > 40*time.Second {
			t.Errorf("the run took %v after an hour of idling", took)
		}
	})
}
