package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// tree writes a run for people: the events of a thread one below the other, its
// branches indented below the event that split.
type tree struct {
	w        *bufio.Writer
	coloured bool
}

func newTree(w io.Writer, coloured bool) *tree { return &tree{bufio.NewWriter(w), coloured} }

func (t *tree) write(name string, s *eventstream.Stream) error {
	t.head(name, s)
	t.limits(s)
	followers := followersOf(s)
	// The chain of threads may be as deep as it likes, so the walk has a stack of
	// its own.
	type place struct {
		e     *eventstream.Event
		depth int
	}
	var open []place
	for _, e := range slices.Backward(followers[nil]) {
		open = append(open, place{e, 1})
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		t.event(at.e, at.depth)
		for _, e := range slices.Backward(followers[at.e]) {
			depth := at.depth
			if e.Thread() != at.e.Thread() {
				depth++
			}
			open = append(open, place{e, depth})
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

func (t *tree) head(name string, s *eventstream.Stream) {
	status, withError := s.Status()
	p := s.Progress()
	fmt.Fprintf(t.w, "%s  %s", name, t.status(status, withError))
	if s.Attr("paused") != "" {
		t.w.WriteString(" (paused)")
	}
	fmt.Fprintf(t.w, "  %d of %d events done  pipeline %s  run %s",
		p.Done(), p.Total, dash(printable(s.Attr("pipeline"))), dash(printable(s.Run())))
	if tags := s.Tags(); tags != nil {
		t.w.WriteString("  tags " + printable(shownTags(tags)))
	}
	t.w.WriteByte('\n')
}

func (t *tree) limits(s *eventstream.Stream) {
	if limits := shownLimits(s); limits != "" {
		t.detail("at a time", limits)
	}
}

func (t *tree) event(e *eventstream.Event, depth int) {
	fmt.Fprintf(t.w, "%s%s %s %s", strings.Repeat("  ", depth), e.ID(), dash(printable(e.Name())), t.status(e.Status(), e.WithError()))
	if notes := eventNotes(e); len(notes) > 0 {
		fmt.Fprintf(t.w, " (%s)", strings.Join(notes, ", "))
	}
	if msg := e.Msg(); msg != "" && !e.WithError() {
		t.w.WriteString(": " + printable(msg))
	}
	t.w.WriteByte('\n')
}

// eventNotes are what else a person wants to know of an event.
func eventNotes(e *eventstream.Event) []string {
	var notes []string
	note := func(on bool, format string, args ...any) {
		if on {
			notes = append(notes, printable(fmt.Sprintf(format, args...)))
		}
	}
	branches, ok, failed := e.Tally()
	note(e.Superseded(), "superseded")
	note(e.Running(), "at %s", e.Key())
	note(e.Waiting(), "waits for someone outside")
	note(branches > 0, "%d of %d branches done", ok+failed, branches)
	note(failed > 0, "%d failed", failed)
	note(e.Attempt() > 1, "attempt %d", e.Attempt())
	note(e.Failures() > 0, "failures %d", e.Failures())
	note(e.Attr("paused") != "", "paused")
	note(e.Status() == eventstream.Init && e.Attr("due") != "", "not before %s", e.Attr("due"))
	note(e.Attr("by") != "", "by %s", e.Attr("by"))
	return notes
}

// statusColours are the ANSI codes that statuses are shown in.
var statusColours = map[eventstream.Status]string{
	eventstream.Inprocess: "36",
	eventstream.Completed: "32",
	eventstream.Aborted:   "31",
	eventstream.Canceled:  "33",
}

func (t *tree) status(s eventstream.Status, withError bool) string {
	text := s.String()
	if withError {
		text += " with errors"
	}
	code := statusColours[s]
	if !t.coloured || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
