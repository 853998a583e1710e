package eventstream

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"
)

var (
	// ErrNotClaimable: the event is not in init, not due yet, or below something
	// final or paused.
	ErrNotClaimable = errors.New("event cannot be claimed")
	// ErrNotOwner: the event is no longer handled under that key and attempt.
	ErrNotOwner = errors.New("event is not handled by this worker")
)

// Claimable yields the events that can be claimed now, in the order of the
// document from place from on and then from its begin.
func (s *Stream) Claimable(now time.Time, from int) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		if s.pausedRun {
			return
		}
		for e := range s.members(&s.byStatus[Init], from) {
			if s.claimable(e, now) && !yield(e) {
				return
			}
		}
		for e := range s.members(&s.byStatus[Init], 0) {
			if int(e.pos) >= from || s.claimable(e, now) && !yield(e) {
				return
			}
		}
	}
}

func (s *Stream) claimable(e *Event, now time.Time) bool {
	return e.status == Init && len(e.next) == 0 && !(e.has(flagDue) && e.Time("due").After(now)) &&
		!s.IsPaused(e) && !s.isStranded(e)
}

// Claim turns an event from init to inprocess in the name of the worker key.
// Attrs are further attributes, name and value by turns, such as timeout.
// ErrNotClaimable if it is not to be claimed now.
func (s *Stream) Claim(e *Event, key string, attrs ...string) error {
	switch err := s.editable(e); {
	case err != nil:
		return err
	case key == "":
		return fmt.Errorf("claim event %s: %w: the key is empty", e.id, ErrValue)
	case !s.claimable(e, s.now):
		return fmt.Errorf("claim event %s: %w: it is %s%s", e.id, ErrNotClaimable, e.status, s.whyNot(e))
	}
	if err := checkEventAttr("key", key); err != nil {
		return fmt.Errorf("event %s: attribute key: %w", e.id, err)
	}
	var room [8]change
	now := s.stampText(e)
	changes := append(room[:0], set("key", key), set("started", now), set("attempt", strconv.Itoa(e.Attempt()+1)))
	changes, err := checkPairs(changes, e, attrs)
	if err != nil {
		return err
	}
	s.applyAt(now, e, append(changes, set("status", Inprocess.String()), unset("due")))
	return nil
}

// whyNot says why an event in init is not claimable.
func (s *Stream) whyNot(e *Event) string {
	switch {
	case e.status != Init:
		return ""
	case s.IsPaused(e):
		return ", and paused"
	}
	return ", and due at " + e.Attr("due")
}

// Owned returns the event with the given id if it is handled under key and
// attempt: the guard of every outcome. ErrNotOwner if not, and ErrFinal too if it
// has ended, whoever ended it.
func (s *Stream) Owned(id, key string, attempt int) (*Event, error) {
	e := s.Event(id)
	switch {
	case e == nil:
		return nil, fmt.Errorf("event %s: %w: it does not exist", id, ErrNotOwner)
	case e.has(flagSuperseded):
		return nil, fmt.Errorf("event %s: %w: %w", id, ErrNotOwner, ErrSuperseded)
	case e.status.Final():
		return nil, fmt.Errorf("event %s: %w: %w: it is %s", id, ErrNotOwner, ErrFinal, e.status)
	case !e.Running() || e.Key() != key || e.Attempt() != attempt:
		return nil, fmt.Errorf("event %s: %w: it is %s, worker %q, attempt %d",
			id, ErrNotOwner, e.status, e.Key(), e.Attempt())
	}
	return e, nil
}

// Complete ends an event with an output; nil for none. ErrFinal if it has ended
// already, since the output would be lost.
func (s *Stream) Complete(e *Event, output *Payload) error {
	if err := s.open(e, "complete"); err != nil {
		return err
	}
	if output == nil {
		s.finish(e, Completed, nil)
		return nil
	}
	c, err := payloadChild(e, "Output", output)
	if err != nil {
		return err
	}
	s.finish(e, Completed, []child{c})
	return nil
}

// open refuses events that are final or cannot be changed at all.
func (s *Stream) open(e *Event, what string) error {
	if err := s.editable(e); err != nil {
		return err
	}
	if e.status.Final() {
		return fmt.Errorf("%s event %s: %w: it is %s", what, e.id, ErrFinal, e.status)
	}
	return nil
}

// Fail records a failed attempt: it adds to the failures and keeps the error
// readable. What comes next — GiveBack, Abort, Next — is the caller's choice.
func (s *Stream) Fail(e *Event, attempt Attempt) error {
	if err := s.open(e, "record a failure of"); err != nil {
		return err
	}
	raw, err := attempt.element()
	if err != nil {
		return fmt.Errorf("event %s: %w", e.id, err)
	}
	s.apply(e, []change{set("failures", strconv.Itoa(e.Failures()+1))}, child{name: "Attempt", raw: raw, isNew: true})
	return nil
}

// GiveBack puts an event that is inprocess without successors back to init, not
// to be claimed before due; zero: at once. Its attempts stay counted. ErrStatus
// if it is not inprocess, or waits for its successors.
func (s *Stream) GiveBack(e *Event, due time.Time) error {
	switch err := s.open(e, "give back"); {
	case err != nil:
		return err
	case e.status != Inprocess || len(e.next) > 0:
		return fmt.Errorf("give back event %s: %w: it is not handled by anyone", e.id, ErrStatus)
	}
	s.apply(e, []change{
		set("status", Init.String()), unset("key"), unset("started"), setOrUnset("due", formatOptional(due)),
	})
	return nil
}

// Wait leaves an event to someone outside: it stays inprocess, without a worker,
// until it is completed or the timeout has passed from now on; 0 waits without
// end. ErrStatus if it waits for its successors.
func (s *Stream) Wait(e *Event, timeout time.Duration) error {
	switch err := s.open(e, "leave to wait"); {
	case err != nil:
		return err
	case len(e.next) > 0:
		return fmt.Errorf("leave event %s to wait: %w: it waits for its successors", e.id, ErrStatus)
	}
	now := s.stamp(e)
	started := e.Time("started")
	if e.status == Init || started.IsZero() {
		started = now
	}
	text := ""
	if timeout > 0 {
		// A timeout counts from the claim, so what has passed since comes on top.
		text = (timeout + max(0, now.Sub(started))).String()
	}
	s.apply(e, []change{
		set("status", Inprocess.String()), unset("key"), unset("due"),
		set("started", FormatTime(started)), setOrUnset("timeout", text),
	})
	return nil
}

// SetInput gives an open event another message; nil takes it away.
func (s *Stream) SetInput(e *Event, input *Payload) error { return s.setPayload(e, "Input", input) }

// SetCursor keeps what a handler wants its next attempt to know; nil takes it
// away.
func (s *Stream) SetCursor(e *Event, cursor *Payload) error {
	return s.setPayload(e, "Cursor", cursor)
}

func (s *Stream) setPayload(e *Event, name string, p *Payload) error {
	if err := s.open(e, "set the "+name+" of"); err != nil {
		return err
	}
	c, err := payloadChild(e, name, p)
	if err != nil {
		return err
	}
	s.apply(e, nil, c)
	return nil
}

// payloadChild makes the child element of a payload; for nil, one that removes
// what is there.
func payloadChild(e *Event, name string, p *Payload) (child, error) {
	if p == nil {
		return child{name: name}, nil
	}
	raw, err := p.element(name)
	if err != nil {
		return child{}, fmt.Errorf("event %s: %w", e.id, err)
	}
	return child{name: name, raw: raw}, nil
}
