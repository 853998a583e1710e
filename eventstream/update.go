package eventstream

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	// ErrReadOnly: an attribute that only the operations of the stream change,
	// such as id, prev and next.
	ErrReadOnly = errors.New("attribute cannot be updated")
	// ErrForeign: an event of another stream, or one that was rolled back.
	ErrForeign = errors.New("event is not of this stream")
	// ErrSuperseded: the event was replaced by a retry and takes no change.
	ErrSuperseded = errors.New("event is superseded")
)

// Update sets attributes of an event, given as name and value by turns, and its
// timestamp. A status goes up through the stream: when it is final, whatever is
// open below the event is canceled, and its predecessors are completed, joined or
// aborted as far as they are decided by it. Back in init, the event loses its key
// and the time of the claim. The final status that the event has already changes
// nothing.
//
// ErrFinal for a second, different final status, and for an attribute of a final
// event by which its split was judged; ErrValue, ErrPolicy, ErrStatus or ErrTime
// for a value that cannot be; ErrReadOnly for id, prev, next, timestamp and
// superseded, and for an attempt that would shrink. Nothing is changed if there
// is an error.
func (s *Stream) Update(e *Event, pairs ...string) error {
	if err := s.editable(e); err != nil {
		return err
	}
	pairs, to, err := takeStatus(e, pairs)
	if err != nil {
		return err
	}
	changes, err := checkPairs(nil, e, pairs)
	switch {
	case err != nil:
		return err
	case to == e.status && len(changes) == 0:
		return nil
	}
	if lookup(changes, "paused") != "" {
		s.steer()
	}
	switch {
	case to == e.status:
	case to.Final():
		if to != Completed {
			s.steer()
		}
		s.finish(e, to, nil, changes...)
		return nil
	case to == Init:
		changes = append([]change{set("status", to.String()), unset("key"), unset("started")}, changes...)
	default:
		changes = append(changes, set("status", to.String()))
	}
	s.apply(e, changes)
	s.rejudge(e)
	return nil
}

// takeStatus takes the status out of pairs of name and value.
func takeStatus(e *Event, pairs []string) (rest []string, to Status, err error) {
	to = e.status
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != "status" {
			continue
		}
		if to, err = checkStatus(e, pairs[i+1]); err != nil {
			return nil, 0, fmt.Errorf("update event %s: %w", e.id, err)
		}
		return slices.Delete(slices.Clone(pairs), i, i+2), to, nil
	}
	return pairs, to, nil
}

func checkStatus(e *Event, value string) (Status, error) {
	to, err := ParseStatus(value)
	switch {
	case err != nil:
		return 0, err
	case to == e.status:
	case e.status.Final():
		return 0, fmt.Errorf("%w: it is %s and cannot become %s", ErrFinal, e.status, to)
	case to == Init && len(e.next) > 0:
		return 0, fmt.Errorf("%w: it waits for its successors and cannot become init", ErrStatus)
	}
	return to, nil
}

// Remove takes attributes away from an event; it sets its timestamp. The errors
// are those of Update.
func (s *Stream) Remove(e *Event, names ...string) error {
	if err := s.editable(e); err != nil {
		return err
	}
	changes := make([]change, 0, len(names)+1)
	for _, name := range names {
		if err := checkChangeable(e, name); err != nil {
			return err
		}
		if name == "attempt" {
			return fmt.Errorf("event %s: %w: attempt only grows", e.id, ErrReadOnly)
		}
		changes = append(changes, unset(name))
	}
	s.apply(e, changes)
	s.rejudge(e)
	return nil
}

// rejudge looks at the split of an event and at the one above it, since either
// may be decided by an attribute that changed: join, policy, or what a batch
// event counts.
func (s *Stream) rejudge(e *Event) {
	s.propagate(e)
	if !e.status.Final() {
		s.propagate(e.prev)
	}
}

func (s *Stream) editable(e *Event) error {
	switch {
	case s.tx == nil:
		return ErrNoEdit
	case e == nil || int(e.pos) >= len(s.events) || s.events[e.pos] != e:
		return ErrForeign
	case e.has(flagSuperseded):
		return fmt.Errorf("event %s: %w", e.id, ErrSuperseded)
	}
	return nil
}

// SetAttrs sets attributes of the root element, given as name and value by
// turns; an empty value removes one.
func (s *Stream) SetAttrs(pairs ...string) error {
	if s.tx == nil {
		return ErrNoEdit
	}
	if len(pairs)%2 != 0 {
		return oddPairs(pairs)
	}
	changes := make([]change, 0, len(pairs)/2)
	for name, value := range eachPair(pairs) {
		if err := checkAttr(name, value); err != nil {
			return fmt.Errorf("set attribute %s of the root element: %w", name, err)
		}
		changes = append(changes, setOrUnset(name, value))
	}
	s.applyToRoot(changes)
	return nil
}

// applyToRoot makes changes to the attributes of the root element.
func (s *Stream) applyToRoot(changes []change) {
	var b strings.Builder
	spliceTag(&b, s.rootTag, changes)
	if b.String() == s.rootTag {
		return
	}
	s.steer()
	s.write()
	s.size += b.Len() - len(s.rootTag)
	s.setRootTag(b.String())
}

func (s *Stream) setRootTag(tag string) {
	s.rootTag, s.attrs = tag, nil
	for name, value := range tagAttrs(tag) {
		s.attrs = append(s.attrs, rootAttr{name, value})
	}
	s.pausedRun = s.Attr("paused") != ""
}

// write marks that the document has content: what was read as 0 bytes gets its
// frame.
func (s *Stream) write() {
	if s.blank {
		s.blank = false
		s.size = len(s.before) + len(s.rootTag) + len(s.after)
	}
}

// stamp is the time that an event is marked with: never before its own
// timestamp, nor before that of its predecessor.
func (s *Stream) stamp(e *Event) time.Time {
	now := later(s.now.Truncate(time.Millisecond), e.Time("timestamp"))
	if e.prev != nil {
		now = later(now, e.prev.Time("timestamp"))
	}
	return now
}

// stampText is stamp as it is written. Most often that is the time of the edit,
// which no parsing is needed to see: the texts of times are in the order of the
// times.
func (s *Stream) stampText(e *Event) string {
	if now := s.nowText(); isBefore(e, now) && (e.prev == nil || s.isPrevBefore(e.prev, now)) {
		return now
	}
	return FormatTime(s.stamp(e))
}

// isPrevBefore is isBefore for a predecessor: that of many branches is the same.
func (s *Stream) isPrevBefore(prev *Event, now string) bool {
	last := stamping{prev.raw, now}
	if s.stamped != last && isBefore(prev, now) {
		s.stamped = last
	}
	return s.stamped == last
}

// stamping is an event, as it stands in the document, and a time that it is not after.
type stamping struct{ raw, now string }

// isBefore reports whether an event's timestamp is surely not after a time that
// we have written.
func isBefore(e *Event, now string) bool {
	t := e.Attr("timestamp")
	return t == "" || len(t) == len(timeLayout) && t <= now && t[4] == '-' && t[10] == 'T' && t[19] == '.' && t[23] == 'Z'
}

// nowText is the time of the edit as it is written.
func (s *Stream) nowText() string {
	if now := s.now.Truncate(time.Millisecond); s.text == "" || !now.Equal(s.textOf) {
		s.text, s.textOf = FormatTime(now), now
	}
	return s.text
}

// later is the later of two times, in whole milliseconds.
func later(now, bound time.Time) time.Time {
	if !bound.After(now) {
		return now
	}
	if whole := bound.Truncate(time.Millisecond); whole.Before(bound) {
		return whole.Add(time.Millisecond)
	}
	return bound
}

// apply makes changes to an event's attributes and child elements, sets its
// timestamp, and brings the indexes and its predecessor's tally up to date. What
// it is given was checked before.
func (s *Stream) apply(e *Event, changes []change, children ...child) {
	s.applyAt(s.stampText(e), e, changes, children...)
}

// applyAt is apply with the timestamp that stampText gave.
func (s *Stream) applyAt(now string, e *Event, changes []change, children ...child) {
	var room [12]change
	changes = append(append(room[:0], changes...), set("timestamp", now))
	raw, tagEnd := rebuild(e, changes, children)
	s.touch(e)
	s.blocks.open(e)
	s.unindex(e)
	s.size += len(raw) - len(e.raw)
	e.raw, e.tagEnd = raw, int32(tagEnd)
	for _, c := range changes {
		switch kind := kindOf(c.name); kind {
		case attrName, attrTopic:
			e.topic = s.topic(topicName(e.Attr("topic"), e.Attr("name")))
		default:
			_ = e.decode(kind, c.value)
		}
	}
	e.updateWake()
	s.index(e)
	s.report(e)
}
