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

// attrKind tells the attributes that the model works with.
type attrKind uint8

const (
	attrOther attrKind = iota
	attrID
	attrPrev
	attrNext
	attrName
	attrTopic
	attrStatus
	attrPolicy
	attrBranches
	attrOK
	attrFailed
	attrMsg
	attrSuperseded
	attrJoin
	attrPaused
	attrDue
	attrTimeout
	attrKey
)

// attrKinds finds a kind by the hash of the name.
var attrKinds = func() (kinds [64]struct {
	name string
	kind attrKind
}) {
	for i, name := range []string{
		"id", "prev", "next", "name", "topic", "status", "policy", "branches", "ok", "failed", "msg",
		"superseded", "join", "paused", "due", "timeout", "key",
	} {
		slot := &kinds[nameHash(name)]
		if slot.name != "" {
			panic("two attributes have the same hash: " + slot.name + ", " + name)
		}
		slot.name, slot.kind = name, attrID+attrKind(i)
	}
	return kinds
}()

func kindOf(name string) attrKind {
	if name == "" {
		return attrOther
	}
	if slot := &attrKinds[nameHash(name)]; slot.name == name {
		return slot.kind
	}
	return attrOther
}

// nameHash tells names apart by their length, ends and middle, in 6 bits. With
// these factors no two of our own attributes have the same.
func nameHash(name string) uint8 {
	n := len(name)
	return uint8(n+int(name[0])+11*int(name[n-1])+45*int(name[n/2])) & 63
}

// decode keeps what the model works with where it is at hand. An empty value is
// a missing attribute. id, prev, next, name and topic are set apart, since they
// take the stream to resolve.
func (e *Event) decode(kind attrKind, value string) (err error) {
	switch kind {
	case attrStatus:
		e.status, err = ParseStatus(value)
	case attrPolicy:
		e.policy, err = ParsePolicy(value)
	case attrBranches:
		e.branches, err = decodeCount("branches", value)
		e.setFlag(flagBatch, e.branches > 0)
	case attrOK:
		e.okBranches, err = decodeCount("ok", value)
	case attrFailed:
		e.failedBranches, err = decodeCount("failed", value)
	case attrMsg:
		e.setFlag(flagWithError, value == withError)
	case attrSuperseded:
		e.setFlag(flagSuperseded, value != "")
	case attrJoin:
		e.setFlag(flagJoin, value != "")
	case attrPaused:
		e.setFlag(flagPaused, value != "")
	case attrDue:
		e.setFlag(flagDue, value != "")
	case attrTimeout:
		e.setFlag(flagTimeout, value != "")
	case attrKey:
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
