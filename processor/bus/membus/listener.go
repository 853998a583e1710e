package membus

import (
	"context"
	"sync"

	"github.com/leasestream/leasestream/processor/bus"
)

// boxSize is how many different doorbells wait for a listener. More are dropped:
// a listener that is so far behind finds the events by its polls.
const boxSize = 1 << 14

// listener is one call of Listen and its box.
type listener struct {
	steps map[string]bool
	ready chan struct{} // has a value when there is something in the box

	mu    sync.Mutex // guards the fields below
	box   []bus.Doorbell
	boxed map[bus.Doorbell]bool
}

func newListener(steps []string) *listener {
	l := &listener{
		steps: map[string]bool{},
		ready: make(chan struct{}, 1),
		boxed: map[bus.Doorbell]bool{},
	}
	for _, step := range steps {
		l.steps[step] = true
	}
	return l
}

func (l *listener) serves(step string) bool { return l.steps[step] }

// put leaves a doorbell in the box.
func (l *listener) put(bell bus.Doorbell) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.boxed[bell] || len(l.box) == boxSize {
		return
	}
	l.boxed[bell] = true
	l.box = append(l.box, bell)
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// take empties the box.
func (l *listener) take() []bus.Doorbell {
	l.mu.Lock()
	defer l.mu.Unlock()
	bells := l.box
	l.box = nil
	clear(l.boxed)
	return bells
}

// deliver calls f with what is in the box.
func (l *listener) deliver(ctx context.Context, f func(bus.Doorbell)) {
	for _, bell := range l.take() {
		if ctx.Err() != nil {
			return
		}
		f(bell)
	}
}
