package eventstream

import (
	"iter"
	"strconv"
	"time"
)

// Event is one step of a run. It belongs to one [Stream] and is changed only
// through it; reading it is safe from several goroutines while no edit runs.
type Event struct {
	raw    string // the element as it stands in the document
	pre    string // what stands between the event before, or the root's tag, and this one
	id     string
	thread *thread
	topic  *topic
	prev   *Event
	next   []*Event // live successors; replaced as a whole, never changed in place
	wake   int64    // Unix milliseconds of the next due time or timeout; 0: none

	tally tally // what its successors add up to
	given share // what it adds to the tally of prev

	policy Policy
	tagEnd int32 // length of the start tag in raw
	pos    int32 // place in the document
	step   int32 // the number of its step in the thread
	epoch  uint32
	status Status
	flags  flags

	// Of a batch event: how many branches it stands for, and how many of them
	// have ended well and badly.
	branches, okBranches, failedBranches int32
}

// withError is the msg of an event that completed although something below it
// did not.
const withError = "WithError"

// ID is the event's id, thread.step.
func (e *Event) ID() string { return e.id }

// Thread is the dotted prefix of the id; "" for the root thread.
func (e *Event) Thread() string { return e.thread.name }

// Step is the number of the step in its thread.
func (e *Event) Step() int { return int(e.step) }

// Status is where the event stands.
func (e *Event) Status() Status { return e.status }

// Topic is the name of the step that handles the event: the attribute topic, or
// name where there is none.
func (e *Event) Topic() string { return e.topic.name }

// Prev is the event that this one follows; nil for the root.
func (e *Event) Prev() *Event { return e.prev }

// Next yields the live successors, in the order of the attribute.
func (e *Event) Next() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for _, n := range e.next {
			if !yield(n) {
				return
			}
		}
	}
}

// Superseded reports whether a retry has replaced the event; all but show pass
// over it.
func (e *Event) Superseded() bool { return e.has(flagSuperseded) }

// WithError reports whether the event completed although something below it did
// not.
func (e *Event) WithError() bool { return e.has(flagWithError) }

// Waiting reports whether the event waits for someone outside: inprocess,
// without successors and without a worker.
func (e *Event) Waiting() bool {
	return e.status == Inprocess && len(e.next) == 0 && !e.has(flagKey)
}

// Running reports whether a worker handles the event: inprocess, without
// successors and with the key of one.
func (e *Event) Running() bool {
	return e.status == Inprocess && len(e.next) == 0 && e.has(flagKey)
}

// IsSplit reports whether the event has ended in branches or names a join.
func (e *Event) IsSplit() bool { return e.tally.branches > 0 || e.has(flagJoin) }

// IsBatch reports whether the event stands for branches of a split that are in a
// child stream.
func (e *Event) IsBatch() bool { return e.has(flagBatch) }

// Branches counts the branches that a batch event stands for, and those of them
// that have ended well and badly, as far as it was told.
func (e *Event) Branches() (branches, ok, failed int) {
	return int(e.branches), int(e.okBranches), int(e.failedBranches)
}

// Reopened is how often a retry has reopened a batch event. It only grows.
func (e *Event) Reopened() int { return e.intAttr("reopened") }

// Policy is the failure policy of a split.
func (e *Event) Policy() Policy { return e.policy }

// IsJoin reports whether the event is the aggregator's of its prev's split.
func (e *Event) IsJoin() bool {
	return e.prev != nil && e.prev.has(flagJoin) && e.thread == e.prev.thread
}

// Tally counts the branches of a split: all, ended well, failed. A batch event
// counts as all the branches it stands for.
func (e *Event) Tally() (branches, ok, failed int) {
	return int(e.tally.branches), int(e.tally.ok), int(e.tally.failed)
}

// tag is the start tag. An event that is being created has an empty one.
func (e *Event) tag() string {
	if e.raw == "" {
		return "<" + eventName + ">"
	}
	return e.raw[:e.tagEnd]
}

// Attr returns the value of an attribute; "" if it has none of that name.
func (e *Event) Attr(name string) string {
	value, _ := tagAttr(e.tag(), name)
	return value
}

// LookupAttr is Attr that tells an empty attribute from a missing one.
func (e *Event) LookupAttr(name string) (string, bool) { return tagAttr(e.tag(), name) }

// Attrs yields the attributes in the order of the document.
func (e *Event) Attrs() iter.Seq2[string, string] { return tagAttrs(e.tag()) }

// Name is the attribute name.
func (e *Event) Name() string { return e.Attr("name") }

// Key is the worker that handles the event or handled it last.
func (e *Event) Key() string { return e.Attr("key") }

// Msg is the message about how the event ended.
func (e *Event) Msg() string { return e.Attr("msg") }

// Attempt is how often the event was claimed. It only grows, and so tells one
// claim from another.
func (e *Event) Attempt() int { return e.intAttr("attempt") }

// Failures is how much of the retry budget is spent.
func (e *Event) Failures() int { return e.intAttr("failures") }

func (e *Event) intAttr(name string) int {
	value := e.Attr(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	return n
}

// Time returns a time attribute such as created, timestamp, started or due; zero
// if it is missing or cannot be read.
func (e *Event) Time(name string) time.Time { return parseOptional(e.Attr(name)) }

// Timeout is how long a claim of the event may last; 0 if it has none.
func (e *Event) Timeout() time.Duration {
	if !e.has(flagTimeout) {
		return 0
	}
	d, err := ParseDuration(e.Attr("timeout"))
	if err != nil {
		return 0
	}
	return d
}

// XML is the element as it stands in the document.
func (e *Event) XML() string { return e.raw }
