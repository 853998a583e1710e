package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/eventstream"
)

// ErrNoEvent is matched when a run has no such event or thread.
var ErrNoEvent = errors.New("no such event")

// Cancel cancels a run (at ""), a thread (01.*) or an event, with everything open
// below it, in the name of by, for a reason. Handlers that run for it are stopped
// within two polls.
func (p *Processor) Cancel(ctx context.Context, name, at, by, reason string) error {
	return p.steer(ctx, name, at, func(s *eventstream.Stream, e *eventstream.Event) error {
		return s.Cancel(e, by, reason)
	})
}

// Abort is Cancel with the status aborted.
func (p *Processor) Abort(ctx context.Context, name, at, by, reason string) error {
	return p.steer(ctx, name, at, func(s *eventstream.Stream, e *eventstream.Event) error {
		return s.Abort(e, by, reason)
	})
}

// Complete ends an event that waits for someone outside — or that a worker
// handles, whose outcome is then refused — with an output.
func (p *Processor) Complete(ctx context.Context, name, id string, output json.RawMessage, by string) error {
	snapshot, err := p.Read(ctx, name)
	if err != nil {
		return err
	}
	pw := &payloads{p: p, run: snapshot.Stream.Run(), event: id, document: snapshot.Stream.Size()}
	payload, err := pw.put(ctx, "out", output)
	if err != nil {
		return err
	}
	return p.steer(ctx, name, id, func(s *eventstream.Stream, e *eventstream.Event) error {
		if by != "" {
			if err := s.Update(e, "by", by); err != nil {
				return err
			}
		}
		return s.Complete(e, payload)
	})
}

func (p *Processor) steer(ctx context.Context, name, at string, f func(*eventstream.Stream, *eventstream.Event) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	_, err := p.edit(ctx, name, func(s *eventstream.Stream) error {
		e, err := eventAt(s, at)
		if err != nil {
			return fmt.Errorf("run %q: %w", name, err)
		}
		return f(s, e)
	})
	return err
}

// eventAt finds the event that stands for a run, a thread or itself.
func eventAt(s *eventstream.Stream, at string) (*eventstream.Event, error) {
	if at == "" {
		at = eventstream.RootID
	}
	id := at
	if thread, ok := eventstream.ParseThread(at); ok {
		id = eventstream.JoinID(thread, 0)
	}
	if e := s.Event(id); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrNoEvent, at)
}
