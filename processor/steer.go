package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// ErrNoEvent is matched when a run has no such event or thread.
var ErrNoEvent = errors.New("no such event")

// Cancel cancels a run (at ""), a thread (01.*) or an event, with everything open
// below it, in the name of by, for a reason. Handlers that run for it are stopped
// within two polls.
//
// A branch of a wide split is addressed as PARENT/ID, here and in all other calls
// that take an event or a thread: 01.00/05.00, or 01.00/05.*, is in the child
// stream of batch event 01.00, which by itself stands for all branches there.
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

// Complete ends an event that waits for someone outside, or that nobody has
// claimed, with an output. id may be "" where only one event can be meant.
// eventstream.ErrStatus if the event is worked on or waits for its successors, or
// if it is not clear which is meant, store.ErrTooLarge for an output over
// [MaxPayload].
func (p *Processor) Complete(ctx context.Context, name, id string, output json.RawMessage, by string) error {
	snapshot, doc, local, err := p.readAt(ctx, name, id)
	if err != nil {
		return err
	}
	e, err := waitingAt(snapshot.Stream, local)
	if err != nil {
		return fmt.Errorf("run %q: %w", name, err)
	}
	at := addressOf(doc, e.ID())
	pw := &payloads{p: p, run: snapshot.Stream.Run(), event: at, document: snapshot.Stream.Size()}
	payload, err := pw.take(ctx, outputKind, output)
	if err != nil {
		return fmt.Errorf("run %q: %w", name, err)
	}
	return p.steer(ctx, name, at, func(s *eventstream.Stream, e *eventstream.Event) error {
		if _, err := waitingAt(s, e.ID()); err != nil {
			return err
		}
		if by != "" {
			if err := s.Update(e, "by", by); err != nil {
				return err
			}
		}
		return s.Complete(e, payload)
	})
}

// waitingAt finds the event to be completed from outside.
func waitingAt(s *eventstream.Stream, id string) (*eventstream.Event, error) {
	if id == "" {
		return onlyWaiting(s)
	}
	e, err := eventAt(s, id)
	switch {
	case err != nil:
		return nil, err
	case e.Status().Final():
		return nil, fmt.Errorf("event %s: %w: it is %s", e.ID(), eventstream.ErrFinal, e.Status())
	case isBatch(e):
		return nil, fmt.Errorf("event %s: %w: it stands for branches, such as %s/01.00; complete, skip or cancel those",
			e.ID(), eventstream.ErrStatus, e.ID())
	case e.Status() == eventstream.Inprocess && !e.Waiting():
		return nil, fmt.Errorf("event %s: %w: it does not wait for someone outside; skip or cancel it", e.ID(), eventstream.ErrStatus)
	}
	return e, nil
}

func onlyWaiting(s *eventstream.Stream) (*eventstream.Event, error) {
	var waiting []*eventstream.Event
	for e := range s.ByStatus(eventstream.Inprocess) {
		if e.Waiting() && !isBatch(e) {
			waiting = append(waiting, e)
		}
	}
	if len(waiting) == 0 {
		waiting = slices.DeleteFunc(slices.Collect(s.ByStatus(eventstream.Init)), isBatch)
	}
	switch len(waiting) {
	case 0:
		return nil, fmt.Errorf("%w: no event waits for someone outside", eventstream.ErrStatus)
	case 1:
		return waiting[0], nil
	}
	return nil, fmt.Errorf("%w: %d events wait, such as %s and %s; say which", eventstream.ErrStatus,
		len(waiting), waiting[0].ID(), waiting[1].ID())
}

func (p *Processor) steer(ctx context.Context, name, at string, f func(*eventstream.Stream, *eventstream.Event) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	doc, local, err := addressed(name, at)
	if err != nil {
		return err
	}
	_, err = p.edit(ctx, doc, func(s *eventstream.Stream) error {
		e, err := eventAt(s, local)
		if err != nil {
			return fmt.Errorf("run %q: %w", doc, err)
		}
		return f(s, e)
	})
	return err
}

// readAt reads the document that an address leads into.
func (p *Processor) readAt(ctx context.Context, name, at string) (snapshot *scope.Snapshot, doc, local string, err error) {
	if snapshot, err = p.Read(ctx, name); err != nil {
		return nil, "", "", err
	}
	doc, local, err = addressed(name, at)
	if err == nil && doc != name {
		if snapshot, err = p.read(ctx, doc, snapshot.Stream.Run()); errors.Is(err, ErrNoRun) {
			err = noChild(name, doc, err)
		}
	}
	return snapshot, doc, local, err
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

// Pause stops claims of a run (at ""), a thread or an event, with all below it,
// until [Processor.Resume]. Handlers that run are left to finish, and nothing that
// waits there times out. Pausing what is paused changes nothing.
func (p *Processor) Pause(ctx context.Context, name, at, by, reason string) error {
	return p.steer(ctx, name, at, func(s *eventstream.Stream, e *eventstream.Event) error {
		return s.Pause(unlessRun(at, e), by, reason)
	})
}

// Resume ends a pause. What could have run out meanwhile gets the time of the
// pause back.
func (p *Processor) Resume(ctx context.Context, name, at string) error {
	doc, _, err := addressed(name, at)
	if err != nil {
		return err
	}
	var bells []bus.Doorbell
	err = p.steer(ctx, name, at, func(s *eventstream.Stream, e *eventstream.Event) error {
		err := s.Resume(unlessRun(at, e))
		bells = bellsOf(doc, s, p.scope.Now())
		return err
	})
	if err == nil {
		p.wake(ctx, doc, bells)
	}
	return err
}

// bellsOf rings for what can be claimed in a stream: once for each step, since
// whoever hears it claims as much as it can.
func bellsOf(name string, s *eventstream.Stream, now time.Time) []bus.Doorbell {
	var bells []bus.Doorbell
	steps := map[string]bool{}
	for e := range s.Claimable(now, 0) {
		if !steps[e.Topic()] {
			steps[e.Topic()] = true
			bells = append(bells, bellOf(name, e))
		}
	}
	return bells
}

// unlessRun is nil where the whole run is meant.
func unlessRun(at string, e *eventstream.Event) *eventstream.Event {
	if at == "" {
		return nil
	}
	return e
}

// Skip completes an event without an output, as if its work was not needed. The
// outcome of a worker that handles it is refused.
func (p *Processor) Skip(ctx context.Context, name, id, by, reason string) error {
	return p.steer(ctx, name, id, func(s *eventstream.Stream, e *eventstream.Event) error {
		if e.Status().Final() {
			return fmt.Errorf("skip event %s: %w: it is %s", e.ID(), eventstream.ErrFinal, e.Status())
		}
		if err := s.Update(e, "by", by, "msg", reason); err != nil {
			return err
		}
		return s.Complete(e, nil)
	})
}

// RetryOptions choose what Retry runs again; nil means everything that failed or
// was canceled.
type RetryOptions struct {
	// Below restricts it to what failed at and below this event or thread.
	Below string
	// From runs this event again instead, whatever became of it.
	From string
	// Input replaces the message of what runs again; nil keeps it.
	Input json.RawMessage
	// By is who asks for it.
	By string
}

// Retry lets a run go on from where it failed: what failed or was canceled runs
// again, finished branches keep their results, and the aggregators above are made
// anew. It returns the ids of the events that run again, as far as can be told
// before they do. eventstream.ErrNothingToReopen if there is nothing,
// store.ErrTooLarge for an input over [MaxPayload].
func (p *Processor) Retry(ctx context.Context, name string, o *RetryOptions) ([]string, error) {
	if o == nil {
		o = &RetryOptions{}
	}
	snapshot, err := p.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	pw := &payloads{p: p, run: snapshot.Stream.Run(), event: eventstream.RootID, document: snapshot.Stream.Size()}
	input, err := pw.take(ctx, inputKind, o.Input)
	if err != nil {
		return nil, fmt.Errorf("retry run %q: %w", name, err)
	}
	for _, at := range []string{o.Below, o.From} {
		if _, _, err := addressed(name, at); err != nil {
			return nil, err
		}
	}
	a := again{Below: o.Below, From: o.From, By: o.By}
	a.setInput(input)
	ids, err := p.retry(ctx, name, snapshot.Stream, a)
	if err != nil {
		return nil, fmt.Errorf("run %q: %w", name, err)
	}
	return ids, nil
}

func (p *Processor) retry(ctx context.Context, name string, s *eventstream.Stream, a again) (ids []string, err error) {
	var failing map[string]bool
	isWide := hasBatches(s)
	if isWide {
		if ids, err = p.foresee(ctx, name, s.Run(), a); err != nil {
			return nil, err
		}
		if failing, err = p.failing(ctx, name, s); err != nil {
			return nil, err
		}
	}
	var picks []string
	var bells []bus.Doorbell
	err = p.editAnywhere(ctx, name, func(s *eventstream.Stream) error {
		picks, bells = nil, nil
		events, err := a.apply(s, failing)
		for _, e := range events {
			picks, bells = append(picks, e.ID()), append(bells, bellOf(name, e))
		}
		return err
	})
	if err == nil {
		p.wake(ctx, name, bells)
	}
	if isWide {
		return ids, err
	}
	return picks, err
}

func hasBatches(s *eventstream.Stream) bool {
	for range s.Batches() {
		return true
	}
	return false
}

// editAnywhere edits a run where it lies; one in the archive comes back.
func (p *Processor) editAnywhere(ctx context.Context, name string, f func(*eventstream.Stream) error) error {
	for {
		info, err := p.find(ctx, name)
		if err != nil {
			return err
		}
		if info.Name == BlobOf(name) {
			_, err = p.edit(ctx, name, f)
		} else {
			err = p.reopenArchived(ctx, name, info, f)
		}
		moved := errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrExists) ||
			errors.Is(err, errMoved) || errors.Is(err, errArchived)
		if !moved {
			return err
		}
	}
}

// PauseAll stops all claims of our workers in the container, until ResumeAll:
// the quiet that maintenance needs. Unlike Pause it shifts no timeout.
func (p *Processor) PauseAll(ctx context.Context, by, reason string) error {
	body, err := json.Marshal(map[string]string{"by": by, "reason": reason})
	if err != nil {
		return err
	}
	_, err = p.scope.Store().Put(ctx, pauseLock, body, &store.PutOptions{ContentType: "application/json"})
	return err
}

// ResumeAll ends PauseAll.
func (p *Processor) ResumeAll(ctx context.Context) error {
	err := p.scope.Store().Delete(ctx, pauseLock, nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// AllPaused reports whether PauseAll is in force.
func (p *Processor) AllPaused(ctx context.Context) (bool, error) {
	_, err := p.scope.Store().Stat(ctx, pauseLock, nil)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
