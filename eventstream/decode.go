package eventstream

import (
	"fmt"
	"strconv"
	"time"
)

// flags are the attributes of which the model needs to know only whether they
// are there, and what it knows of the event besides.
type flags uint16

const (
	flagSuperseded flags = 1 << iota
	flagLinked           // stands in the next of its prev
	flagJoin             // has an attribute join
	flagWithError        // msg is WithError
	flagPaused
	flagDue
	flagTimeout
	flagKey
	flagBatch // has an attribute branches
)

func (e *Event) has(f flags) bool { return e.flags&f != 0 }

func (e *Event) setFlag(f flags, on bool) {
	e.flags &^= f
	if on {
		e.flags |= f
	}
}

// decoded are the attributes that decode knows.
var decoded = []string{
	"status", "policy", "branches", "ok", "failed", "msg", "superseded", "join", "paused", "due", "timeout", "key",
}

// decode keeps what the model works with where it is at hand. An empty value is
// a missing attribute. id, prev, next, name and topic are set apart, since they
// take the stream to resolve.
func (e *Event) decode(name, value string) (err error) {
	switch name {
	case "status":
		e.status, err = ParseStatus(value)
	case "policy":
		e.policy, err = ParsePolicy(value)
	case "branches":
		e.branches, err = decodeCount(name, value)
		e.setFlag(flagBatch, e.branches > 0)
	case "ok":
		e.okBranches, err = decodeCount(name, value)
	case "failed":
		e.failedBranches, err = decodeCount(name, value)
	case "msg":
		e.setFlag(flagWithError, value == withError)
	case "superseded":
		e.setFlag(flagSuperseded, value != "")
	case "join":
		e.setFlag(flagJoin, value != "")
	case "paused":
		e.setFlag(flagPaused, value != "")
	case "due":
		e.setFlag(flagDue, value != "")
	case "timeout":
		e.setFlag(flagTimeout, value != "")
	case "key":
		e.setFlag(flagKey, value != "")
	}
	return err
}

func decodeCount(name, value string) (int32, error) {
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("attribute %s is %q, want a count: %w", name, value, ErrValue)
	}
	return int32(n), nil
}

// updateWake works out when the event next needs a look although nobody edits
// the stream.
func (e *Event) updateWake() {
	e.wake = 0
	switch {
	case e.has(flagSuperseded):
	case e.has(flagDue) && (e.status == Init || e.status == Inprocess && len(e.next) > 0):
		e.wake = wakeAt(e.Time("due"))
	case e.has(flagTimeout) && e.status == Inprocess && len(e.next) == 0:
		if started := e.Time("started"); !started.IsZero() && e.Timeout() > 0 {
			e.wake = wakeAt(started.Add(e.Timeout()))
		}
	}
}

func wakeAt(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(1, t.UnixMilli())
}
