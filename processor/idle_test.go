package processor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
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
