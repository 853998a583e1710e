package dashboard

import (
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// phases are the times of an event, zero where it has not come so far. An event
// whose attempts failed was created, tried in vain between Created and Started,
// and Started for the last time: the document has no times of earlier attempts.
type phases struct {
	Created time.Time
	Started time.Time // the last claim
	Handed  time.Time // what follows it was made
	Ended   time.Time
	Due     time.Time // not to be claimed before
}

func phasesOf(e *eventstream.Event) phases {
	p := phases{Created: e.Time("created"), Started: e.Time("started")}
	for next := range e.Next() {
		p.Handed = next.Time("created")
		break
	}
	switch {
	case e.Status().Final():
		p.Ended = e.Time("timestamp")
	case e.Status() == eventstream.Init:
		p.Due = e.Time("due")
	}
	return p
}

// Waited is how long it was not worked on, until now if it has not begun.
func (p phases) Waited(now time.Time) time.Duration {
	return firstOf(p.Started, p.Ended, now).Sub(p.Created)
}

// Ran is how long the last attempt took; 0 if there was none.
func (p phases) Ran(now time.Time) time.Duration {
	if p.Started.IsZero() {
		return 0
	}
	return firstOf(p.Handed, p.Ended, now).Sub(p.Started)
}

// firstOf is the first time that is not zero.
func firstOf(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
