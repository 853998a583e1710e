package natsbus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/leasestream/leasestream/processor/bus"
)

// boxSize is how many doorbells wait for a listener. The connection drops more: a
// listener that is so far behind finds the events by its polls.
const boxSize = 1 << 14

// group is the name of the queue group of the listeners for a step.
const group = "workers"

// listener is one call of Listen.
type listener struct {
	steps    []string // sorted
	subjects []string // the first for all, the others for a step each
	messages chan *nats.Msg
	refused  chan error // gets why the server does not let it listen
}

// Listen calls f for each doorbell of one of the steps until ctx ends, the bus is
// closed, or the server refuses a subscription.
func (b *Bus) Listen(ctx context.Context, steps []string, f func(bus.Doorbell)) error {
	l := newListener(b.prefix, steps)
	b.add(l)
	defer b.remove(l)
	subs, err := l.subscribe(b.conn)
	defer unsubscribe(subs)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-b.closed:
			return fmt.Errorf("listen: %w", nats.ErrConnectionClosed)
		case err := <-l.refused:
			return fmt.Errorf("listen: %w", err)
		case m := <-l.messages:
			l.hear(m, f)
		}
	}
	return nil
}

func newListener(prefix string, steps []string) *listener {
	l := &listener{
		steps:    slices.Compact(slices.Sorted(slices.Values(steps))),
		subjects: []string{subject(prefix, "")},
		messages: make(chan *nats.Msg, boxSize),
		refused:  make(chan error, 1),
	}
	for _, step := range l.steps {
		l.subjects = append(l.subjects, subject(prefix, step))
	}
	return l
}

func (b *Bus) add(l *listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners[l] = struct{}{}
}

func (b *Bus) remove(l *listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.listeners, l)
}

// subscribe returns the subscriptions that were made, also with an error.
func (l *listener) subscribe(conn *nats.Conn) ([]*nats.Subscription, error) {
	var subs []*nats.Subscription
	queue := ""
	for _, subject := range l.subjects {
		sub, err := conn.ChanQueueSubscribe(subject, queue, l.messages)
		if err != nil {
			return subs, err
		}
		subs = append(subs, sub)
		queue = group
	}
	return subs, nil
}

// unsubscribe has nothing to tell: it fails only without a connection, and then
// there is nothing to end.
func unsubscribe(subs []*nats.Subscription) {
	for _, sub := range subs {
		_ = sub.Unsubscribe()
	}
}

// refuse ends the listener if err names one of its subjects.
func (l *listener) refuse(err error) {
	named := func(subject string) bool { return strings.Contains(err.Error(), `"`+subject+`"`) }
	if !slices.ContainsFunc(l.subjects, named) {
		return
	}
	select {
	case l.refused <- err:
	default:
	}
}

// hear passes on what is a doorbell for one of the steps. A subject may carry
// anything: who may publish there is the server's business.
func (l *listener) hear(m *nats.Msg, f func(bus.Doorbell)) {
	var bell bus.Doorbell
	if json.Unmarshal(m.Data, &bell) != nil || bell.Stream == "" {
		return
	}
	if _, ours := slices.BinarySearch(l.steps, bell.Step); ours || bell.Step == "" {
		f(bell)
	}
}
