package eventstream

import (
	"fmt"
	"time"
)

// Pause stops claims of an event and of all below it; nil pauses the run.
// Handlers that run are left to finish; nothing that waits there times out. Who
// paused it and why take the place of the attributes by and msg until it is
// resumed. Pausing what is paused changes nothing; ErrFinal if it has ended.
func (s *Stream) Pause(e *Event, by, reason string) error {
	if e == nil {
		return s.pauseRun(by, reason)
	}
	if err := s.open(e, "pause"); err != nil {
		return err
	}
	if e.has(flagPaused) {
		return nil
	}
	if err := checkReason(e, by, reason); err != nil {
		return err
	}
	s.steer()
	s.apply(e, []change{
		set("paused", FormatTime(s.stamp(e))), setOrUnset("by", by), setOrUnset("msg", reason),
	})
	return nil
}

func (s *Stream) pauseRun(by, reason string) error {
	switch {
	case s.tx == nil:
		return ErrNoEdit
	case s.pausedRun:
		return nil
	case s.IsDone():
		return fmt.Errorf("pause %v: %w", s, ErrFinal)
	}
	return s.SetAttrs("paused", FormatTime(s.now), "by", by, "msg", reason)
}

// Resume ends a pause, of the run if e is nil. What could have run out meanwhile
// gets the time of the pause back: the timeouts of events that wait for someone
// outside, the due times of splits, the deadline of the run. Resuming what is not
// paused changes nothing.
func (s *Stream) Resume(e *Event) error {
	if e == nil {
		return s.resumeRun()
	}
	if err := s.editable(e); err != nil {
		return err
	}
	if !e.has(flagPaused) {
		return nil
	}
	s.steer()
	since := e.Time("paused")
	s.apply(e, []change{unset("paused"), unset("by"), unset("msg")})
	s.giveBackTime(e, since)
	return nil
}

func (s *Stream) resumeRun() error {
	switch {
	case s.tx == nil:
		return ErrNoEdit
	case !s.pausedRun:
		return nil
	}
	since := parseOptional(s.Attr("paused"))
	pairs := []string{"paused", "", "by", "", "msg", ""}
	if deadline := parseOptional(s.Attr("deadline")); !deadline.IsZero() && !since.IsZero() {
		pairs = append(pairs, "deadline", FormatTime(deadline.Add(max(0, s.now.Sub(since)))))
	}
	if err := s.SetAttrs(pairs...); err != nil {
		return err
	}
	if s.root != nil {
		s.giveBackTime(s.root, since)
	}
	return nil
}

// giveBackTime adds the time since a pause to what waits at and below e. A pause
// that cannot be read gives nothing back.
func (s *Stream) giveBackTime(e *Event, since time.Time) {
	if since.IsZero() {
		return
	}
	for w := range s.members(&s.timed, 0) {
		if !w.restsInPause() || !below(w, e) {
			continue
		}
		// Other pauses that go on give back their own time, when they end.
		pause := s.pauseBegin(w).Sub(later(since, w.Time("started"))).Round(time.Millisecond)
		switch {
		case pause <= 0:
		case w.has(flagDue) && len(w.next) > 0:
			s.apply(w, []change{set("due", FormatTime(w.Time("due").Add(pause)))})
		default:
			s.apply(w, []change{set("timeout", (w.Timeout() + pause).String())})
		}
	}
}

// restsInPause reports whether a pause above the event stops its clock: it waits
// for someone outside or for branches. A handler that runs has its timeout all
// the same, and the due time of a claim is a time of day.
func (e *Event) restsInPause() bool { return e.Waiting() || e.isOpenParent() }

// pauseBegin is when the first of the pauses that hold an event began: now, if
// there is none.
func (s *Stream) pauseBegin(e *Event) time.Time {
	begin := s.now
	consider := func(since time.Time) {
		if !since.IsZero() && since.Before(begin) {
			begin = since
		}
	}
	if s.pausedRun {
		consider(parseOptional(s.Attr("paused")))
	}
	for p := e; p != nil && s.paused > 0; p = p.prev {
		if p.has(flagPaused) {
			consider(p.Time("paused"))
		}
	}
	return begin
}

// below reports whether e is at or below top.
func below(e, top *Event) bool {
	for ; e != nil; e = e.prev {
		if e == top {
			return true
		}
	}
	return false
}

// IsPaused reports whether an event or one above it is paused, or the run.
func (s *Stream) IsPaused(e *Event) bool {
	if s.pausedRun {
		return true
	}
	if s.paused == 0 {
		return false
	}
	for ; e != nil; e = e.prev {
		if e.has(flagPaused) {
			return true
		}
	}
	return false
}
