package processor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
)

// ringTimeout bounds how long doorbells are tried to be rung; what they say is
// found by polling anyhow.
const ringTimeout = 2 * time.Second

// ringer rings doorbells beside the edits that cause them, so that a bus that
// hangs holds up nobody.
type ringer struct {
	bus  bus.Bus
	log  *slog.Logger
	wake chan struct{} // has a value when something waits

	mu      sync.Mutex // guards the fields below
	workers int        // goroutines in run
	waiting []bus.Doorbell
}

func newRinger(b bus.Bus, log *slog.Logger) *ringer {
	return &ringer{bus: b, log: log, wake: make(chan struct{}, 1)}
}

// ring sends doorbells: by the goroutine of a worker of this process, or, where
// there is none, at once.
func (r *ringer) ring(ctx context.Context, bells []bus.Doorbell) {
	if r.bus == nil || len(bells) == 0 {
		return
	}
	if r.leave(bells) {
		return
	}
	r.send(ctx, bells)
}

// leave hands doorbells to a worker's goroutine, if there is one.
func (r *ringer) leave(bells []bus.Doorbell) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.workers == 0 {
		return false
	}
	r.waiting = append(r.waiting, bells...)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// run rings what others leave, until ctx ends, and what is left then.
func (r *ringer) run(ctx context.Context) {
	if r.bus == nil {
		return
	}
	r.count(1)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-r.wake:
			r.send(ctx, r.take())
		}
	}
	r.count(-1)
	r.send(context.WithoutCancel(ctx), r.take())
}

func (r *ringer) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers += n
}

func (r *ringer) take() []bus.Doorbell {
	r.mu.Lock()
	defer r.mu.Unlock()
	bells := r.waiting
	r.waiting = nil
	return bells
}

func (r *ringer) send(ctx context.Context, bells []bus.Doorbell) {
	if len(bells) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	if err := r.bus.Ring(ctx, bells...); err != nil {
		r.log.WarnContext(ctx, "doorbells were not rung; workers find the events by polling", "err", err)
	}
}
