package dashboard

import (
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// state is what an event or a run is shown as: the status, and what it means at
// the moment.
type state string

const (
	waiting    state = "waiting"   // to be claimed
	delayed    state = "delayed"   // not to be claimed yet
	running    state = "running"   // a worker has it; of a run: it has not ended
	outside    state = "outside"   // for someone outside to complete
	following  state = "following" // waits for its successors
	completed  state = "completed"
	withErrors state = "errors" // completed, but something below it did not
	aborted    state = "aborted"
	canceled   state = "canceled"
	superseded state = "superseded"
	paused     state = "paused"
	unreadable state = "unreadable"
	expired    state = "expired" // of leases and workers: not in force any more
	live       state = "live"
)

var labels = map[state]string{
	waiting: "Waiting", delayed: "Delayed", running: "Running", outside: "Waits for completion",
	following: "In progress", completed: "Completed", withErrors: "With errors", aborted: "Aborted",
	canceled: "Canceled", superseded: "Superseded", paused: "Paused", unreadable: "Unreadable",
	expired: "Ended", live: "Live",
}

// Label is the state for people.
func (s state) Label() string { return labels[s] }

// Icon is the shape that goes with the colour, since a colour alone tells nothing
// to many.
func (s state) Icon() string {
	switch s {
	case following:
		return string(running)
	case expired:
		return string(canceled)
	case live:
		return string(completed)
	}
	return string(s)
}

// Failed reports whether it ended badly.
func (s state) Failed() bool { return s == aborted || s == withErrors || s == unreadable }

// stateOf is what an event is shown as at a time. An event that stands for a child
// stream is as that is.
func stateOf(e *eventstream.Event, now time.Time) state {
	if e.Superseded() {
		return superseded
	}
	switch e.Status() {
	case eventstream.Completed:
		if _, _, failed := e.Branches(); e.WithError() || failed > 0 {
			return withErrors
		}
		return completed
	case eventstream.Aborted:
		return aborted
	case eventstream.Canceled:
		return canceled
	case eventstream.Init:
		if e.Time("due").After(now) {
			return delayed
		}
		return waiting
	}
	switch {
	case e.Running():
		return running
	case e.Waiting() && !e.IsBatch():
		return outside
	}
	return following
}

// stateOfRun is what a run is shown as.
func stateOfRun(info processor.RunInfo) state {
	switch {
	case info.Unreadable != nil:
		return unreadable
	case info.Status == eventstream.Aborted:
		return aborted
	case info.Status == eventstream.Canceled:
		return canceled
	case info.Status == eventstream.Completed && info.WithError:
		return withErrors
	case info.Status == eventstream.Completed:
		return completed
	case info.Paused:
		return paused
	}
	return running
}
