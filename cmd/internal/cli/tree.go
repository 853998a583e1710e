package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// tree writes a run for people: the events of a thread one below the other, its
// branches indented below the event that split.
type tree struct {
	w        *bufio.Writer
	coloured bool
}

func newTree(w io.Writer, coloured bool) *tree { return &tree{bufio.NewWriter(w), coloured} }

// leaf is one event to be shown, in its document.
type leaf struct {
	doc   *branchDocument
	e     *eventstream.Event
	depth int
}

// branchDocument is a document with its events by the one they follow.
type branchDocument struct {
	*processor.Document
	followers map[*eventstream.Event][]*eventstream.Event
}

func newBranchDocument(d *processor.Document) *branchDocument {
	return &branchDocument{d, followersOf(d.Stream)}
}

// after are the events that follow one, those of the child stream that a batch
// event stands for among them.
func (d *branchDocument) after(ctx context.Context, at leaf) ([]leaf, error) {
	var list []leaf
	for _, e := range d.followers[at.e] {
		depth := at.depth
		if e.Thread() != at.e.Thread() {
			depth++
		}
		list = append(list, leaf{d, e, depth})
	}
	child, err := d.Child(ctx, at.e)
	if child == nil || err != nil {
		return list, err
	}
	below := newBranchDocument(child)
	branches, err := below.after(ctx, leaf{below, child.Stream.Root(), at.depth})
	return append(branches, list...), err
}

func (t *tree) write(ctx context.Context, name string, d *processor.Document) error {
	sum, err := d.Summary(ctx)
	if err != nil {
		return err
	}
	t.put(headLine(name, d.Stream, sum.Done, sum.Total))
	t.limits(d.Stream)
	doc := newBranchDocument(d)
	// The chain of threads may be as deep as it likes, so the walk has a stack of
	// its own.
	var open []leaf
	for _, e := range slices.Backward(doc.followers[nil]) {
		open = append(open, leaf{doc, e, 1})
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		t.put(eventLine(at.doc.Address(at.e.ID()), at.e, at.depth))
		following, err := at.doc.after(ctx, at)
		if err != nil {
			return err
		}
		for _, next := range slices.Backward(following) {
			open = append(open, next)
		}
	}
	return t.w.Flush()
}

// followersOf are the events by the one they follow, superseded ones included:
// branches first, then what comes after them in the same thread.
func followersOf(s *eventstream.Stream) map[*eventstream.Event][]*eventstream.Event {
	followers := map[*eventstream.Event][]*eventstream.Event{}
	for e := range s.Events() {
		followers[e.Prev()] = append(followers[e.Prev()], e)
	}
	for prev, list := range followers {
		slices.SortStableFunc(list, func(a, b *eventstream.Event) int {
			if own := sameThread(a, prev) - sameThread(b, prev); own != 0 {
				return own
			}
			return eventstream.CompareIDs(a.ID(), b.ID())
		})
	}
	return followers
}

func sameThread(e, prev *eventstream.Event) int {
	if prev != nil && e.Thread() == prev.Thread() {
		return 1
	}
	return 0
}

func (t *tree) limits(s *eventstream.Stream) {
	if limits := shownLimits(s); limits != "" {
		t.detail("at a time", limits)
	}
}

func (t *tree) put(l line) {
	t.w.WriteString(l.shown(0, t.coloured))
	t.w.WriteByte('\n')
}

func headLine(name string, s *eventstream.Stream, done, total int) line {
	l := line{before: name + "  "}
	l.status, l.withError = s.Status()
	if s.Attr("paused") != "" {
		l.after = " (paused)"
	}
	l.after += fmt.Sprintf("  %d of %d events done  pipeline %s  run %s",
		done, total, dash(printable(s.Attr("pipeline"))), dash(printable(s.Run())))
	if tags := s.Tags(); tags != nil {
		l.after += "  tags " + printable(shownTags(tags))
	}
	return l
}

// eventLine is the line of the event with an address.
func eventLine(address string, e *eventstream.Event, depth int) line {
	l := line{
		depth:  depth,
		before: address + " " + dash(printable(e.Name())) + " ",
		status: e.Status(), withError: e.WithError(),
		after: inParentheses(eventNotes(e)),
	}
	if msg := e.Msg(); msg != "" && !e.WithError() {
		l.after += ": " + printable(msg)
	}
	return l
}

func inParentheses(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// notes are remarks on an event.
type notes []string

func (n *notes) add(on bool, format string, args ...any) {
	if on {
		*n = append(*n, printable(fmt.Sprintf(format, args...)))
	}
}

// eventNotes are what else a person wants to know of an event.
func eventNotes(e *eventstream.Event) notes {
	var n notes
	n.add(e.Superseded(), "superseded")
	n.add(e.Running(), "at %s", e.Key())
	n.add(e.Attempt() > 1, "attempt %d", e.Attempt())
	n.add(e.Status() == eventstream.Init && e.Attr("due") != "", "not before %s", e.Attr("due"))
	return append(n, sharedNotes(e)...)
}

// sharedNotes are those that are the same for events that are alike.
func sharedNotes(e *eventstream.Event) notes {
	var n notes
	branches, ok, failed := e.Tally()
	n.add(e.Waiting() && !e.IsBatch(), "waits for someone outside")
	n.add(e.IsBatch(), "%s", batchNote(e))
	n.add(branches > 0, "%d of %d branches done", ok+failed, branches)
	n.add(failed > 0, "%d failed", failed)
	n.add(e.Failures() > 0, "failures %d", e.Failures())
	n.add(e.Attr("paused") != "", "paused")
	n.add(e.Attr("by") != "", "by %s", e.Attr("by"))
	return n
}

// batchNote tells what a batch event stands for.
func batchNote(e *eventstream.Event) string {
	branches, _, failed := e.Branches()
	if failed > 0 {
		return fmt.Sprintf("%d branches, %d failed", branches, failed)
	}
	return fmt.Sprintf("%d branches", branches)
}
