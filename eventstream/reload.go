package eventstream

import (
	"slices"
	"strings"
	"time"
)

// Reload reads a later text of the document that s holds. As long as nothing has
// happened to it but what edits of ours do, which is that the root's attributes and
// events change in place and events are appended, that costs a copy and a comparison of
// the bytes and a scan of what has changed. Anything else is read as a whole.
//
// Result and error are those of Parse(data). The result may be s itself, which then
// is as if it had just been read, with the same events; else s is as it was. Reload
// needs to be alone, as edits do, and keeps no reference to data. However often a
// stream is reloaded, the memory it keeps grows with the document only.
func (s *Stream) Reload(data []byte) (*Stream, error) {
	if s.follow([]string{string(data)}) {
		return s, nil
	}
	return Parse(data)
}

// ReloadPieces is Reload of a text in pieces, as [Stream.Pieces] of a compacted stream
// gives them. One that s has given itself, the same string, costs next to nothing.
// Where a piece ends in the middle of an event, the text is read as a whole.
func (s *Stream) ReloadPieces(pieces []string) (*Stream, error) {
	if s.follow(pieces) {
		return s, nil
	}
	return Parse([]byte(strings.Join(pieces, "")))
}

// follow brings the stream to a later text of its document. If that does not
// follow from the one before by edits of ours, it reports false and leaves the
// stream as it was.
func (s *Stream) follow(pieces []string) (ok bool) {
	size := sizeOf(pieces)
	if s.tx != nil || len(s.events) == 0 || s.unsettled || s.irregular || s.settled.Changed > 0 || size > MaxBytes {
		return false
	}
	r := &reload{parser: parser{s: s}, more: pieces}
	s.begin()
	defer func() {
		if !ok {
			s.undo(s.tx.begin)
		}
		s.closeJournal()
	}()
	if !r.root() || !r.kept() || !r.appended() || !r.linked() || !r.settled() {
		return false
	}
	s.size, s.now = size, time.Time{}
	s.Compact() // or an event would keep the whole piece that it was read from
	return true
}

func sizeOf(pieces []string) (n int) {
	for _, piece := range pieces {
		n += len(piece)
	}
	return n
}

// reload goes through the events of a stream and a later text of its document in
// step. An event that differs has to be a line of its own, as we write them: where
// it ends is known before it is scanned. What is equal need not be scanned, since
// where an element ends depends on nothing behind it.
type reload struct {
	parser         // of the line that differs
	rest    string // of the piece, from the next event on
	more    []string
	chars   []byte // of the line; to use again
	renewed []link // the events that are new or have changed, with their next
}

// here is the text from the next event on, to the end of its piece.
func (r *reload) here() string {
	for r.rest == "" && len(r.more) > 0 {
		r.rest, r.more = r.more[0], r.more[1:]
	}
	return r.rest
}

// skip passes over a text, if it stands here.
func (r *reload) skip(text string) bool {
	if !strings.HasPrefix(r.here(), text) {
		return false
	}
	r.rest = r.rest[len(text):]
	return true
}

// ends reports whether nothing but a text stands here.
func (r *reload) ends(text string) bool { return r.here() == text && len(r.more) == 0 }

// line makes the rest of the line, or of the piece, what the scanner reads.
func (r *reload) line() bool {
	line, _, _ := strings.Cut(r.here(), "\n")
	if line == "" {
		return false
	}
	r.rest = r.rest[len(line):]
	r.reset(line)
	r.chars = append(r.chars[:0], line...)
	return line[0] == '<' && checkChars(r.chars, line) == nil
}

func (r *reload) root() bool {
	if !r.skip(r.s.before) {
		return false
	}
	if r.skip(r.s.rootTag) {
		return true
	}
	if !r.line() || r.scanRoot() != nil {
		return false
	}
	r.s.setRootTag(r.src)
	return true
}

// scanRoot reads a line that has to be the start tag of the root element.
func (r *reload) scanRoot() (err error) {
	defer recoverSyntax(&err)
	if el := r.startTag(); el.name != rootName || el.empty || r.pos < len(r.src) {
		r.fail(0, "the line is not the root's start tag")
	}
	return nil
}

// kept passes over the events that the stream has, and takes in what changed in
// them.
func (r *reload) kept() bool {
	for from := 0; from < len(r.s.events); from += blockEvents {
		if text := r.s.blocks.at(from); text != "" && r.skip(text) {
			continue
		}
		for _, e := range r.s.events[from:r.s.blockEnd(from)] {
			if !r.skip(e.pre) || !r.skip(e.raw) && !r.change(e) {
				return false
			}
		}
	}
	return true
}

// change reads anew an event that has changed.
func (r *reload) change(e *Event) bool {
	now, next, ok := r.event()
	if !ok || now.id != e.id || now.prev != e.prev || e.has(flagSuperseded) {
		return false
	}
	r.s.touch(e)
	r.s.blocks.open(e)
	r.s.unindex(e)
	e.raw, e.tagEnd, e.topic = now.raw, now.tagEnd, now.topic
	e.status, e.policy, e.flags = now.status, now.policy, now.flags|e.flags&flagLinked
	e.branches, e.okBranches, e.failedBranches = now.branches, now.okBranches, now.failedBranches
	e.updateWake()
	r.s.index(e)
	r.renewed = append(r.renewed, link{e: e, ids: next})
	return true
}

// appended reads the events that have been added at the end.
func (r *reload) appended() bool {
	for !r.ends(r.s.after) {
		if !r.skip("\n") {
			return false
		}
		e, next, ok := r.event()
		if !ok || r.s.Event(e.id) != nil {
			return false
		}
		e.pre = "\n"
		r.s.enter(e)
		r.renewed = append(r.renewed, link{e: e, ids: next})
	}
	return true
}

// event reads a line that has to be an event which is not superseded. What it
// follows stands before it.
func (r *reload) event() (e *Event, next string, ok bool) {
	if !r.line() {
		return nil, "", false
	}
	e = &Event{}
	prev, next, err := r.scan(e)
	if err != nil || e.has(flagSuperseded) {
		return nil, "", false
	}
	e.raw, e.prev = r.src, r.s.Event(prev)
	return e, next, prev == "" || e.prev != nil
}

func (r *reload) scan(e *Event) (prev, next string, err error) {
	defer recoverSyntax(&err)
	el := r.startTag()
	if el.name != eventName {
		r.fail(0, "the element is <%s>", el.name)
	}
	refs := r.attributes(e, el)
	e.topic = r.s.topic(r.topicOf(refs))
	prev, next = r.attrValue(refs.prev), r.attrValue(refs.next)
	if !el.empty {
		r.content(&el)
	}
	if r.pos < len(r.src) {
		r.fail(r.pos, "the line has more than an event")
	}
	return prev, next, nil
}

// linked gives the events that are new or have changed their successors.
func (r *reload) linked() bool {
	for _, l := range r.renewed {
		if !r.link(l.e, l.ids) {
			return false
		}
	}
	return true
}

// link gives an event the successors in its next: those that it had, and then
// others.
func (r *reload) link(e *Event, ids string) bool {
	had, next := e.next, slices.Clip(e.next)
	for id := range eachID(ids) {
		if len(had) > 0 && had[0].id == id {
			had = had[1:]
			continue
		}
		n := r.s.Event(id)
		if len(had) > 0 || n == nil || n.prev != e || n.has(flagLinked|flagSuperseded) {
			return false
		}
		n.setFlag(flagLinked, true) // it is new: what was there before stands in a next already
		next = append(next, n)
	}
	if len(next) > len(e.next) {
		r.s.setNext(e, next)
	}
	return len(had) == 0
}

// settled brings the tallies up to date, and reports whether all that depends on
// what has changed is as an edit of ours leaves it.
func (r *reload) settled() bool {
	for _, l := range r.renewed {
		r.s.report(l.e)
	}
	for _, saved := range r.s.tx.events {
		if !r.s.isOurs(saved.e) {
			return false
		}
	}
	return !r.s.isPausedUndated() && !slices.ContainsFunc(r.renewed, func(l link) bool { return !r.s.isOurs(l.e) })
}

// isOurs reports whether nothing about the event, or between it and the events
// before and after it, has to be settled.
func (s *Stream) isOurs(e *Event) bool {
	return s.isRegular(e) && !e.isUndone() && (e.tally.open == 0 || !e.status.Final())
}
