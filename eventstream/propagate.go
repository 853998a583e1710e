package eventstream

import "fmt"

// What stands in the attribute by of an event that nobody in person ended.
const (
	ByPolicy  = "policy"  // the failure policy of a split
	ByTimeout = "timeout" // a timeout, a due time or a deadline
)

// finish ends an event: what is open below it is canceled, then its status is
// set, then its predecessors are looked at.
func (s *Stream) finish(e *Event, status Status, children []child, changes ...change) {
	s.cancelBelow(e, lookup(changes, "by"), "its predecessor is "+status.String())
	s.end(e, status, children, changes...)
	s.propagate(e.prev)
}

func lookup(changes []change, name string) string {
	if i := lastChange(changes, name); i >= 0 {
		return changes[i].value
	}
	return ""
}

// end sets a final status and nothing else.
func (s *Stream) end(e *Event, status Status, children []child, changes ...change) {
	var room [4]change
	s.apply(e, append(append(room[:0], changes...), set("status", status.String())), children...)
}

// steer notes that workers must look at what happened to events they handle.
func (s *Stream) steer() { s.tx.steered = true }

// cancelBelow cancels every open event below e. A final event has nothing open
// below it, so the walk goes only where something is open.
func (s *Stream) cancelBelow(e *Event, by, msg string) {
	if e.tally.open == 0 {
		return
	}
	open := []*Event{e}
	for i := 0; i < len(open); i++ {
		for _, n := range open[i].next {
			if !n.status.Final() {
				open = append(open, n)
			}
		}
	}
	// A branch is judged by its last event when its first one ends, so the last
	// ones are marked first; nothing is propagated in between.
	for i := len(open) - 1; i > 0; i-- {
		s.cancelOne(open[i], by, msg)
	}
}

func (s *Stream) cancelOne(e *Event, by, msg string) {
	if e.Running() {
		s.steer()
	}
	s.end(e, Canceled, nil, setOrUnset("by", by), set("msg", msg))
}

// propagate looks at p because one of its successors ended, or because p got a
// failure policy to be judged by, and goes on upwards as far as something is
// decided.
func (s *Stream) propagate(p *Event) {
	for p != nil && p.isOpenParent() && s.advance(p) {
		p = p.prev
	}
}

// isOpenParent reports whether the event waits for its successors.
func (e *Event) isOpenParent() bool { return e.status == Inprocess && len(e.next) > 0 }

// isUndecided reports whether advance would leave an event that waits for its
// successors as it is.
func (e *Event) isUndecided() bool {
	return e.tally.open > 0 && (e.tally.own > 0 || e.policy.judge(e.tally) == undecided)
}

// advance ends p if its successors have decided it, or creates its join. It
// reports whether p ended.
func (s *Stream) advance(p *Event) bool {
	if p.tally.own == 0 {
		switch p.policy.judge(p.tally) {
		case decidedFailed:
			s.abortByPolicy(p)
			return true
		case decidedMet:
			s.cancelBelow(p, ByPolicy, fmt.Sprintf("policy %v is met", p.policy))
		}
	}
	switch {
	case p.tally.open > 0:
		return false
	case p.has(flagJoin) && p.tally.own == 0:
		return !s.appendJoin(p)
	}
	s.complete(p)
	return true
}

func (s *Stream) abortByPolicy(p *Event) {
	t := p.tally
	msg := fmt.Sprintf("policy %v: %d of %d branches failed", p.policy, t.failed, t.branches)
	s.cancelBelow(p, ByPolicy, msg)
	s.end(p, Aborted, nil, set("by", ByPolicy), set("msg", msg))
}

// complete ends p because all its successors have.
func (s *Stream) complete(p *Event) {
	switch {
	case p.tally.bad > 0:
		s.end(p, Completed, nil, set("msg", withError))
	case p.has(flagWithError):
		s.end(p, Completed, nil, unset("msg"))
	default:
		s.end(p, Completed, nil)
	}
}

// appendJoin creates the aggregator's event of a split, in the same commit that
// ends its last branch: whoever that is, and whatever dies, it exists once. It
// reports whether it could; a thread whose last number a foreign hand has used
// has no place for it, and the split is aborted.
func (s *Stream) appendJoin(p *Event) bool {
	join, err := newEvent(s.nextStep(p.thread), s.birthBelow(p), NewEvent{Name: p.Attr("join")})
	if err != nil {
		s.end(p, Aborted, nil, set("msg", "its join cannot be created: "+err.Error()))
		return false
	}
	s.handOn(p, []*Event{join})
	return true
}
