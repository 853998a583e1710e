package eventstream

// needsSettling reports whether a foreign hand left anything undone in a document
// that was just read.
func (s *Stream) needsSettling() bool {
	undone := s.isPausedUndated()
	for _, e := range s.events {
		if e.has(flagSuperseded) {
			continue
		}
		undone = undone || e.isUndone()
		s.loose = s.loose || e.prev != nil && !e.has(flagLinked)
		s.irregular = s.irregular || !s.isRegular(e)
	}
	return undone || s.loose
}

// isUndone reports whether an edit of ours would have ended the event, made it wait
// for its successors, or said since when it is paused.
func (e *Event) isUndone() bool {
	return e.isOpenParent() && !e.isUndecided() || e.status == Init && len(e.next) > 0 ||
		e.prev != nil && e.prev.status.Final() && !e.status.Final() || e.isPausedUndated()
}

// isRegular reports whether the event is where our own edits put events: in the
// next of its prev, and in a thread that is one chain of rising steps.
func (s *Stream) isRegular(e *Event) bool {
	switch p := e.prev; {
	case e.tally.own > 1:
		return false
	case p == nil:
		return e == s.root
	case p.thread == e.thread:
		return e.has(flagLinked) && e.step > p.step
	}
	return e.has(flagLinked) && e.step == 0
}

// isPausedUndated reports whether a foreign hand has paused the run, which goes on,
// and did not say when.
func (s *Stream) isPausedUndated() bool {
	return s.pausedRun && !s.IsDone() && parseOptional(s.Attr("paused")).IsZero()
}

// isPausedUndated is that of an open event.
func (e *Event) isPausedUndated() bool {
	return e.has(flagPaused) && !e.status.Final() && e.Time("paused").IsZero()
}

// settle brings what a foreign hand left to its end: live events below final
// ones are canceled, what has successors waits for them, then what is missing of
// propagation is made up for, from the deepest thread upwards. It is not undone
// with the edit that found it: it depends on the document alone, and on the time.
func (s *Stream) settle() {
	s.cancelStranded()
	s.datePauses()
	for e := range s.ByStatus(Init) {
		if len(e.next) > 0 {
			s.apply(e, []change{set("status", Inprocess.String()), unset("due")})
		}
	}
	s.propagateDecided()
	// An event that is not in the next of its prev is not seen from above, so
	// whatever ends may have stranded it, in this edit and in each one to come.
	for s.loose && s.cancelStranded() {
		s.propagateDecided()
	}
	s.unsettled = s.loose
}

// datePauses lets pauses that a foreign hand set without a time begin now: their
// time can be given back then.
func (s *Stream) datePauses() {
	if s.isPausedUndated() {
		s.applyToRoot([]change{set("paused", FormatTime(s.now))})
	}
	for _, e := range s.events {
		if !e.has(flagSuperseded) && e.isPausedUndated() {
			s.steer()
			s.apply(e, []change{set("paused", FormatTime(s.stamp(e)))})
		}
	}
}

// cancelStranded reports whether there was anything to cancel.
func (s *Stream) cancelStranded() bool {
	stranded := s.stranded()
	for i := len(stranded) - 1; i >= 0; i-- {
		s.cancelOne(stranded[i], "", "an event before it is final")
	}
	if len(stranded) > 0 {
		s.tallyAll()
	}
	return len(stranded) > 0
}

func (s *Stream) propagateDecided() {
	var decided []*Event
	for p := range s.ByStatus(Inprocess) {
		if p.isOpenParent() && !p.isUndecided() {
			decided = append(decided, p)
		}
	}
	decided = shallowFirst(decided)
	for i := len(decided) - 1; i >= 0; i-- {
		s.propagate(decided[i])
	}
}

// stranded lists the open live events below final or superseded ones. Each event
// is visited once, however long the chains are.
func (s *Stream) stranded() []*Event {
	const unseen, alive, dead = 0, 1, 2
	state := make([]uint8, len(s.events))
	var list, path []*Event
	for _, e := range s.events {
		path = path[:0]
		verdict := uint8(alive)
		for p := e; p != nil; p = p.prev {
			if state[p.pos] != unseen {
				verdict = state[p.pos]
				break
			}
			path = append(path, p)
			if p.prev != nil && (p.prev.status.Final() || p.prev.has(flagSuperseded)) {
				verdict = dead
				break
			}
		}
		for _, p := range path {
			state[p.pos] = verdict
		}
		if state[e.pos] == dead && !e.status.Final() && !e.has(flagSuperseded) {
			list = append(list, e)
		}
	}
	return list
}

// isStranded reports whether an event is below a final or superseded one, which
// it can be only until a document that a foreign hand wrote is settled.
func (s *Stream) isStranded(e *Event) bool {
	if !s.unsettled {
		return false
	}
	for p := e.prev; p != nil; p = p.prev {
		if p.status.Final() || p.has(flagSuperseded) {
			return true
		}
	}
	return false
}

// isDetached reports whether a foreign hand left the event, or one above it, out
// of the next of its prev.
func (s *Stream) isDetached(e *Event) bool {
	for ; s.loose && e.prev != nil; e = e.prev {
		if !e.has(flagLinked) {
			return true
		}
	}
	return false
}
