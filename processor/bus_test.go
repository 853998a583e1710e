package processor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope/store"
)

// slowStore is a store that is polled as seldom as one that is far away.
type slowStore struct{ store.Store }

// runOverBus runs three rounds of work in one process, started from another, and
// returns how long they took.
func runOverBus(t *testing.T, far func(bus.Bus) bus.Bus) time.Duration {
	t.Helper()
	w := newWorld(t)
	network := membus.New()
	st := slowStore{w.st}
	near, other := far(network), far(network.Join())
	t.Cleanup(func() {
		if err := errors.Join(near.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
	starter := w.processOn(st, &processor.Options{Bus: near})
	worker := w.processOn(st, &processor.Options{Bus: other})
	pl := squares(t, square)
	worker.work(nil, pl)
	time.Sleep(time.Hour) // until it polls as seldom as it ever does
	begin := time.Now()
	starter.start(pl, "r", 10)
	wantEnd(t, worker.await("r"), eventstream.Completed, false, "385")
	return time.Since(begin)
}

func TestBus_SavesTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if took := runOverBus(t, func(b bus.Bus) bus.Bus { return b }); took > time.Second {
			t.Errorf("with doorbells the run took %v", took)
		}
	})
}

// Doorbells that are lost, doubled, late or out of order change nothing but the
// latency.
func TestBus_MayDoWhatItLikes(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			chaos := func(b bus.Bus) bus.Bus { return bustest.Chaos(b, seed) }
			if took := runOverBus(t, chaos); took > 10*time.Minute {
				t.Errorf("seed %d: the run took %v", seed, took)
			}
		})
	}
}

// hangingBus hangs until the caller gives up.
type hangingBus struct{ bus.Bus }

func (hangingBus) Ring(ctx context.Context, _ ...bus.Doorbell) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestBus_ThatHangsHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(&processor.Options{Bus: hangingBus{membus.New()}})
		pl := squares(t, square)
		p.work(nil, pl)
		p.start(pl, "first", 1)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", 100), eventstream.Completed, false, "338350")
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("with a bus that hangs the run took %v", took)
		}
	})
}
