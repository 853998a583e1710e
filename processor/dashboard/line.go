package dashboard

import (
	"fmt"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// line is an event as lists show it.
type line struct {
	Run      string // name of the stream
	ID       string
	Step     string
	State    state
	Paused   bool
	Msg      string
	Notes    []string
	Worker   string
	Failures int
	attempt  int
	phases
	now time.Time
}

func lineOf(run string, e event, now time.Time) line {
	l := line{
		Run: run, ID: e.ID(), Step: stepOf(e.Event), State: stateOf(e.Event, now), Msg: e.Msg(), Failures: e.Failures(), attempt: e.Attempt(),
		Paused: e.Attr("paused") != "", phases: phasesOf(e.Event), now: now,
	}
	if l.State == withErrors {
		l.Msg = "" // the word says it
	}
	if e.Running() || e.Status().Final() {
		l.Worker = e.Key()
	}
	l.Notes = notesOf(e.Event)
	return l
}

// stepOf names the step of an event.
func stepOf(e *eventstream.Event) string { return e.Topic() }

// notesOf are what else one wants to know of an event.
func notesOf(e *eventstream.Event) []string {
	var notes []string
	note := func(on bool, format string, args ...any) {
		if on {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	branches, ok, failed := e.Tally()
	if e.IsBatch() {
		branches, ok, failed = e.Branches()
	}
	note(branches > 0, "%s of %s done", shownCount(ok+failed), plural(branches, "branch"))
	note(failed > 0, "%s failed", shownCount(failed))
	note(e.IsJoin(), "aggregator")
	note(e.Attempt() > 1, "attempt %d", e.Attempt())
	note(e.Attr("by") != "", "by %s", e.Attr("by"))
	return notes
}

// Wait is how long it waited, for people.
func (l line) Wait() string { return shownSpan(l.Waited(l.now)) }

// Took is how long its last attempt ran; "" if there was none.
func (l line) Took() string {
	if l.Started.IsZero() {
		return ""
	}
	return shownSpan(l.Ran(l.now))
}

// vain is how many attempts failed before the last claim.
func (l line) vain() int {
	if l.Started.IsZero() {
		return l.Failures
	}
	return min(l.Failures, l.attempt-1)
}
