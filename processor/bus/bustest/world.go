package bustest

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
)

// world is one network and what lives on it during one case.
type world struct {
	t         *testing.T
	join      func() bus.Bus
	listeners int
}

func openWorld(t *testing.T, h Harness) *world { return &world{t: t, join: h.Open(t)} }

// bus joins a bus, to be closed with the case.
func (w *world) bus() bus.Bus {
	b := w.join()
	w.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			w.t.Errorf("Close() = %v, want nil", err)
		}
	})
	return b
}

func (w *world) ring(b bus.Bus, bells ...bus.Doorbell) {
	w.t.Helper()
	if err := b.Ring(w.t.Context(), bells...); err != nil {
		w.t.Errorf("Ring() = %v, want nil", err)
	}
}

// bell makes a doorbell that differs from others by n.
func bell(step string, n int) bus.Doorbell {
	return bus.Doorbell{Stream: "order-42", Event: fmt.Sprintf("%02d", n), Step: step}
}

// bells makes the doorbells from n up to end.
func bells(step string, n, end int) []bus.Doorbell {
	var all []bus.Doorbell
	for ; n < end; n++ {
		all = append(all, bell(step, n))
	}
	return all
}

// until waits until f says true. A time of its own it has only for failures.
func until(t *testing.T, f func() bool, format string, args ...any) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); !f(); <-tick.C {
		if time.Since(start) > patience {
			t.Fatalf("after %v: "+format, append([]any{patience}, args...)...)
		}
	}
}
