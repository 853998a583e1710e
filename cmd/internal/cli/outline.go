package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// outline is a run on a few lines: what is alike is one line, what failed is
// open.
type outline struct {
	lines []line
	signs map[*eventstream.Event]sign // of threads, by their first event
}

// maxOpen is how many failed branches of a split are open that are alike.
const maxOpen = 3

// sign is what a thread looks like: threads of the same sign are alike.
type sign struct {
	text   string
	failed bool
}

// outlineOf is the outline of the live events of a stream.
func outlineOf(name string, s *eventstream.Stream) []line {
	p := s.Progress()
	o := &outline{lines: []line{headLine(name, s, p.Done(), p.Total)}, signs: map[*eventstream.Event]sign{}}
	if root := s.Root(); root != nil {
		o.thread(root, 1)
	}
	return o.lines
}

// thread adds a thread from its first event on, with the branches of its splits.
// Steps that are alike in a row, as a loop makes them, are one line.
func (o *outline) thread(first *eventstream.Event, depth int) {
	for e := first; e != nil; {
		last, n := alikeInRow(e)
		if n > 1 {
			o.lines = append(o.lines, rowLine(e, last, n, depth))
		} else {
			o.lines = append(o.lines, eventLine(e, depth))
			o.branches(e, depth+1)
		}
		e = nextInThread(last)
	}
}

// alikeInRow is the last of the events from e on that are one line, and their
// number.
func alikeInRow(e *eventstream.Event) (last *eventstream.Event, n int) {
	last, n = e, 1
	for next := nextInThread(e); next != nil && plain(last) && plain(next) && likeness(next) == likeness(e); next = nextInThread(next) {
		last, n = next, n+1
	}
	return last, n
}

// plain reports whether there is nothing more to an event than its line.
func plain(e *eventstream.Event) bool { return !e.IsSplit() && !failed(e) && e.Msg() == "" }

func failed(e *eventstream.Event) bool { return e.Status() == eventstream.Aborted || e.WithError() }

// likeness is what makes events alike: what is shown of an event but for what is
// its own.
func likeness(e *eventstream.Event) string {
	return fmt.Sprint(e.Name(), "|", e.Status(), e.WithError(), e.Running(), sharedNotes(e))
}

func nextInThread(e *eventstream.Event) *eventstream.Event {
	for next := range e.Next() {
		if next.Thread() == e.Thread() {
			return next
		}
	}
	return nil
}

// group is branches of a split that are alike.
type group struct {
	sign
	first []*eventstream.Event
}

// groups are the branches of a split, in the order in which each group begins.
func (o *outline) groups(split *eventstream.Event) []*group {
	var groups []*group
	bySign := map[string]*group{}
	for e := range split.Next() {
		if e.Thread() == split.Thread() {
			continue
		}
		sign := o.signOf(e)
		g := bySign[sign.text]
		if g == nil {
			g = &group{sign: sign}
			bySign[sign.text] = g
			groups = append(groups, g)
		}
		g.first = append(g.first, e)
	}
	return groups
}

// signOf works a sign out once, since each split above asks for it.
func (o *outline) signOf(first *eventstream.Event) sign {
	if known, ok := o.signs[first]; ok {
		return known
	}
	var text strings.Builder
	var s sign
	for e := first; e != nil; e = nextInThread(e) {
		s.failed = s.failed || failed(e)
		text.WriteString(likeness(e))
		for _, g := range o.groups(e) {
			s.failed = s.failed || g.failed
			fmt.Fprintf(&text, "(%d×%s)", len(g.first), g.text)
		}
		text.WriteByte('\n')
	}
	s.text = text.String()
	o.signs[first] = s
	return s
}

// branches adds the branches of a split: those that are alike on one line, but
// for some that failed.
func (o *outline) branches(split *eventstream.Event, depth int) {
	for _, g := range o.groups(split) {
		open := 1
		switch {
		case g.failed:
			open = min(maxOpen, len(g.first))
		case len(g.first) > 1:
			open = 0
		}
		for _, e := range g.first[:open] {
			o.thread(e, depth)
		}
		if rest := g.first[open:]; len(rest) > 0 {
			o.lines = append(o.lines, groupLine(rest, depth))
		}
	}
}

// groupLine is the line of branches that are alike.
func groupLine(first []*eventstream.Event, depth int) line {
	var names []string
	last := first[0]
	for e := last; e != nil; e = nextInThread(e) {
		last, names = e, append(names, dash(printable(e.Name())))
	}
	l := rowLine(first[0], first[len(first)-1], len(first), depth)
	l.before = span(first[0], first[len(first)-1]) + fmt.Sprintf("%d × %s ", len(first), strings.Join(slices.Compact(names), " › "))
	l.status, l.withError = last.Status(), last.WithError()
	return l
}

// rowLine is the line of n events from first to last.
func rowLine(first, last *eventstream.Event, n, depth int) line {
	return line{
		depth:  depth,
		before: span(first, last) + fmt.Sprintf("%d × %s ", n, dash(printable(first.Name()))),
		status: first.Status(), withError: first.WithError(),
		after: inParentheses(sharedNotes(first)),
	}
}

func span(first, last *eventstream.Event) string {
	if first == last {
		return first.ID() + " "
	}
	return first.ID() + " … " + last.ID() + " "
}
