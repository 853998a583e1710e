// Package membus is the doorbell bus inside one process: for tests, and for
// processors that share a process.
//
// A doorbell goes to one of the listeners for its step, in turn. What a listener
// has not taken yet waits in a box of its own, where equal doorbells become one.
package membus

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/leasestream/leasestream/processor/bus"
)

// errClosed is what a closed bus answers.
var errClosed = errors.New("the bus is closed")

// Bus is a bus in memory.
type Bus struct {
	net    *network
	closed chan struct{}
	once   sync.Once // closes closed
}

var _ bus.Bus = (*Bus)(nil)

// New makes a bus on a network of its own.
func New() *Bus { return join(new(network)) }

// Join makes another bus on the same network: each hears what the other rings,
// and each is closed by itself.
func (b *Bus) Join() *Bus { return join(b.net) }

func join(n *network) *Bus { return &Bus{net: n, closed: make(chan struct{})} }

// Ring puts the doorbells into the boxes of listeners. It never waits, and looks
// at no context.
func (b *Bus) Ring(_ context.Context, bells ...bus.Doorbell) error {
	select {
	case <-b.closed:
		return errClosed
	default:
		b.net.ring(bells)
		return nil
	}
}

// Listen calls f for each doorbell of one of the steps until ctx ends or the bus
// is closed.
func (b *Bus) Listen(ctx context.Context, steps []string, f func(bus.Doorbell)) error {
	l := newListener(steps)
	b.net.add(l)
	defer b.net.remove(l)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.closed:
			return errClosed
		case <-l.ready:
			l.deliver(ctx, f)
		}
	}
}

// Close ends all listening on this bus; other buses on the network go on.
func (b *Bus) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// network is what buses share.
type network struct {
	mu        sync.Mutex  // guards the field below
	listeners []*listener // the next to get a doorbell first
}

func (n *network) add(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners = append(n.listeners, l)
}

func (n *network) remove(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.listeners, l)
	n.listeners = slices.Delete(n.listeners, i, i+1)
}

func (n *network) ring(bells []bus.Doorbell) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, bell := range bells {
		if bell.Step == "" {
			n.ringAll(bell)
		} else {
			n.ringOne(bell)
		}
	}
}

func (n *network) ringAll(bell bus.Doorbell) {
	for _, l := range n.listeners {
		l.put(bell)
	}
}

// ringOne gives a doorbell to the first listener for its step, which then goes
// to the end of the line.
func (n *network) ringOne(bell bus.Doorbell) {
	i := slices.IndexFunc(n.listeners, func(l *listener) bool { return l.serves(bell.Step) })
	if i < 0 {
		return
	}
	l := n.listeners[i]
	n.listeners = append(slices.Delete(n.listeners, i, i+1), l)
	l.put(bell)
}
