package eventstream

import "strings"

// blockEvents is how many events that follow one another make a block.
const blockEvents = 64

// blocks hold the text of the events once more, as few long strings: most of a large
// document is as it was at the last commit, and is written and compared a block at a
// time. One that is empty is open: the texts of its events count.
type blocks []string

// at is the block of the event at a place; "" if it is open.
func (b blocks) at(pos int) string {
	if i := pos / blockEvents; i < len(b) {
		return b[i]
	}
	return ""
}

// open is for whoever is about to change the text of an event, or adds one.
func (b blocks) open(e *Event) {
	if i := int(e.pos) / blockEvents; i < len(b) {
		b[i] = ""
	}
}

// Compact makes what follows cheaper for a stream of many events, few of which have
// changed since the last time: writing it and reading a later text of it. Like an
// edit, it needs to be alone. The document stays as it is.
func (s *Stream) Compact() {
	for i := 0; i*blockEvents < len(s.events); i++ {
		if i == len(s.blocks) {
			s.blocks = append(s.blocks, "")
		}
		if s.blocks[i] == "" {
			s.blocks[i] = joinEvents(s.events[i*blockEvents : s.blockEnd(i*blockEvents)])
		}
	}
}

// blockEnd is where the block ends that begins at a place.
func (s *Stream) blockEnd(from int) int { return min(from+blockEvents, len(s.events)) }

// joinEvents makes one text of those of some events, which become parts of it.
func joinEvents(events []*Event) string {
	var b strings.Builder
	size := 0
	for _, e := range events {
		size += len(e.pre) + len(e.raw)
	}
	b.Grow(size)
	for _, e := range events {
		b.WriteString(e.pre)
		b.WriteString(e.raw)
	}
	text := b.String()
	rest := text
	for _, e := range events {
		pre, raw := len(e.pre), len(e.raw)
		e.pre, e.raw, rest = rest[:pre], rest[pre:pre+raw], rest[pre+raw:]
	}
	return text
}
