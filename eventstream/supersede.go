package eventstream

import (
	"slices"
	"strings"
)

// supersede takes some of p's successors, and all below them, out of the run.
// They stay in the document, with the time at which they were replaced.
func (s *Stream) supersede(p *Event, gone []*Event) {
	if len(gone) == 0 {
		return
	}
	isGone := make(map[*Event]bool, len(gone))
	for _, e := range gone {
		isGone[e] = true
	}
	var rest []*Event
	var ids []string
	for _, n := range p.next {
		if !isGone[n] {
			rest = append(rest, n)
			ids = append(ids, n.id)
		}
	}
	all := slices.Clone(gone)
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].next...)
	}
	for i := len(all) - 1; i >= 0; i-- {
		s.retire(all[i])
	}
	s.relink(p, rest, []change{setOrUnset("next", strings.Join(ids, "|"))})
}

// retire marks one event superseded; what was not final is canceled first.
func (s *Stream) retire(e *Event) {
	changes := []change{set("superseded", FormatTime(s.stamp(e)))}
	if !e.status.Final() {
		changes = append(changes, set("status", Canceled.String()), set("msg", "superseded by a retry"))
	}
	s.touch(e)
	e.setFlag(flagLinked, false)
	s.report(e)
	// Its own next stays in the document, as a record.
	s.relink(e, nil, changes)
	s.leaveThread(e)
}
