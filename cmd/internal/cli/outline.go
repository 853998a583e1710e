package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// outline is a run on a few lines: what is alike is one line, what failed is
// open.
type outline struct{ lines []line }

// maxOpen is how many failed branches of a split are open that are alike.
const maxOpen = 3

// signed is a document of the run, with the signs of its threads by their first
// events.
type signed struct {
	*processor.Document
	signs map[*eventstream.Event]sign
}

func newSigned(d *processor.Document) signed {
	return signed{d, map[*eventstream.Event]sign{}}
}

// sign is what a thread looks like: threads of the same sign are alike.
type sign struct {
	text   string
	failed bool
}

// outlineOf is the outline of the live events of a run. Child streams are read
// only where something in them failed.
func outlineOf(ctx context.Context, name string, d *processor.Document) ([]line, error) {
	sum, err := d.Summary(ctx)
	if err != nil {
		return nil, err
	}
	o := &outline{lines: []line{headLine(name, d.Stream, sum.Done, sum.Total)}}
	if root := d.Stream.Root(); root != nil {
		err = o.thread(ctx, newSigned(d), root, 1)
	}
	return o.lines, err
}

func (o *outline) add(l line) { o.lines = append(o.lines, l) }

// thread adds a thread from its first event on, with the branches of its splits.
// Steps that are alike in a row, as a loop makes them, are one line.
func (o *outline) thread(ctx context.Context, d signed, first *eventstream.Event, depth int) error {
	for e := first; e != nil; {
		last, n := alikeInRow(e)
		if n > 1 {
			o.add(d.rowLine(e, last, n, depth))
		} else if err := o.event(ctx, d, e, depth); err != nil {
			return err
		}
		e = nextInThread(last)
	}
	return nil
}

// event adds an event and what is below it. A batch event that failed has the
// branches of its child stream there.
func (o *outline) event(ctx context.Context, d signed, e *eventstream.Event, depth int) error {
	o.add(eventLine(d.Address(e.ID()), e, depth))
	if err := o.branches(ctx, d, e, depth+1); err != nil || !failed(e) {
		return err
	}
	child, err := d.Child(ctx, e)
	if child == nil || err != nil {
		return err
	}
	return o.branches(ctx, newSigned(child), child.Stream.Root(), depth+1)
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
func (d signed) groups(split *eventstream.Event) []*group {
	var groups []*group
	bySign := map[string]*group{}
	for e := range split.Next() {
		if e.Thread() == split.Thread() {
			continue
		}
		sign := d.signOf(e)
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
func (d signed) signOf(first *eventstream.Event) sign {
	if known, ok := d.signs[first]; ok {
		return known
	}
	var text strings.Builder
	var s sign
	for e := first; e != nil; e = nextInThread(e) {
		s.failed = s.failed || failed(e)
		text.WriteString(likeness(e))
		for _, g := range d.groups(e) {
			s.failed = s.failed || g.failed
			fmt.Fprintf(&text, "(%d×%s)", len(g.first), g.text)
		}
		text.WriteByte('\n')
	}
	s.text = text.String()
	d.signs[first] = s
	return s
}

// branches adds the branches of a split: those that are alike on one line, but
// for some that failed.
func (o *outline) branches(ctx context.Context, d signed, split *eventstream.Event, depth int) error {
	for _, g := range d.groups(split) {
		open := 1
		switch {
		case g.failed:
			open = min(maxOpen, len(g.first))
		case len(g.first) > 1:
			open = 0
		}
		for _, e := range g.first[:open] {
			if err := o.thread(ctx, d, e, depth); err != nil {
				return err
			}
		}
		if rest := g.first[open:]; len(rest) > 0 {
			o.add(d.groupLine(rest, depth))
		}
	}
	return nil
}

// groupLine is the line of branches that are alike.
func (d signed) groupLine(first []*eventstream.Event, depth int) line {
	var names []string
	last := first[0]
	for e := last; e != nil; e = nextInThread(e) {
		last, names = e, append(names, dash(printable(e.Name())))
	}
	l := d.rowLine(first[0], first[len(first)-1], len(first), depth)
	l.before = d.span(first[0], first[len(first)-1]) + fmt.Sprintf("%d × %s ", len(first), strings.Join(slices.Compact(names), " › "))
	l.status, l.withError = last.Status(), last.WithError()
	return l
}

// rowLine is the line of n events from first to last.
func (d signed) rowLine(first, last *eventstream.Event, n, depth int) line {
	return line{
		depth:  depth,
		before: d.span(first, last) + fmt.Sprintf("%d × %s ", n, dash(printable(first.Name()))),
		status: first.Status(), withError: first.WithError(),
		after: inParentheses(sharedNotes(first)),
	}
}

func (d signed) span(first, last *eventstream.Event) string {
	if first == last {
		return d.Address(first.ID()) + " "
	}
	return d.Address(first.ID()) + " … " + d.Address(last.ID()) + " "
}
