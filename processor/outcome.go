package processor

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/leasestream/leasestream/eventstream"
)

// ErrOutcome is matched when an outcome cannot be carried out: a step that does
// not exist, a message that is no JSON, a policy that cannot be.
var ErrOutcome = errors.New("invalid outcome")

// Outcome is how a handler ends: [Complete], [Next], [Split], [Wait] or [Abort].
// The zero Outcome completes the event without an output. One that cannot be
// carried out aborts the event, with the reason; so does one that hands on more
// than [MaxPayload] or [MaxOutcome], of which nothing is written then.
type Outcome struct {
	kind     outcomeKind
	output   any // of Complete
	branches []Branch
	messages iter.Seq2[Branch, error] // of SplitSeq; nil once they are read
	parts    []*part                  // what the branches became if they are many
	report   *report                  // of a batch event
	join     string
	policy   eventstream.Policy
	timeout  time.Duration
	reason   string
}

type outcomeKind uint8

const (
	outcomeComplete outcomeKind = iota
	outcomeNext
	outcomeSplit
	outcomeWait
	outcomeAbort
	outcomeReport // a batch event ends as its child did
	outcomeKinds  // how many there are
)

// Branch is one message of a split, or the one of a Next.
type Branch struct {
	Step    string
	Message any // encoded as JSON; json.RawMessage is taken as it is
	// Number of the thread that the branch becomes; 0 takes the next unused one.
	Number int
	// Delay is how long the event is not to be claimed.
	Delay time.Duration
}

// Complete ends the event, and with it the branch, with an output, which is
// encoded as JSON; nil for none.
func Complete(output any) Outcome { return Outcome{kind: outcomeComplete, output: output} }

// Next hands on to a step in the same thread.
func Next(step string, message any) Outcome {
	return Outcome{kind: outcomeNext, branches: []Branch{{Step: step, Message: message}}}
}

// Split ends in branches: one event of the step for each message, worked on in
// parallel. No messages at all are an empty split.
func Split(step string, messages ...any) Outcome {
	branches := make([]Branch, len(messages))
	for i, m := range messages {
		branches[i] = Branch{Step: step, Message: m}
	}
	return SplitTo(branches...)
}

// SplitSeq is Split for messages that are too many to be had at once: they are read
// one by one, as soon as the handler has returned and while its context lasts, and
// however many they are, few of them are in memory at a time. The sequence is
// gone through once; an error that it yields fails the attempt, or ends it for good
// if it matches ErrOutcome, and then nothing has happened.
func SplitSeq(step string, messages iter.Seq2[any, error]) Outcome {
	return Outcome{kind: outcomeSplit, messages: func(yield func(Branch, error) bool) {
		for m, err := range messages {
			if !yield(Branch{Step: step, Message: m}, err) {
				return
			}
		}
	}}
}

// SplitTo is Split with a step and number of its own for each branch.
func SplitTo(branches ...Branch) Outcome {
	return Outcome{kind: outcomeSplit, branches: branches}
}

// Join names the aggregator of a split: the step that is created once, when all
// branches have ended.
func (o Outcome) Join(step string) Outcome { o.join = step; return o }

// Policy says what failed branches of a split do; the default is to wait for
// all.
func (o Outcome) Policy(p eventstream.Policy) Outcome { o.policy = p; return o }

// Timeout ends a split early: after it, open branches are canceled and the
// aggregator works with what there is. 0: never.
func (o Outcome) Timeout(d time.Duration) Outcome { o.timeout = d; return o }

// Delay makes the events of a Next or Split wait before they may be claimed.
func (o Outcome) Delay(d time.Duration) Outcome {
	branches := append([]Branch(nil), o.branches...)
	for i := range branches {
		branches[i].Delay = d
	}
	o.branches = branches
	if messages := o.messages; messages != nil {
		o.messages = func(yield func(Branch, error) bool) {
			for b, err := range messages {
				b.Delay = d
				if !yield(b, err) {
					return
				}
			}
		}
	}
	return o
}

// Wait leaves the event to someone outside — a person, another system — who
// completes it with [Processor.Complete] or the command line. After the timeout
// it counts as failed and is tried again; 0 waits without end.
func Wait(timeout time.Duration) Outcome { return Outcome{kind: outcomeWait, timeout: timeout} }

// Abort ends the event, and with it the branch, as failed. It is not tried
// again.
func Abort(reason string) Outcome { return Outcome{kind: outcomeAbort, reason: reason} }

// encoded is what an outcome of a step hands on, as JSON.
type encoded struct {
	output   json.RawMessage
	messages []json.RawMessage // of the branches
}

// encode makes JSON of all that the outcome of a step hands on, and refuses by name
// what is over a limit, so that nothing of an outcome is written unless all of it
// can be.
func (o Outcome) encode(step string, l limits) (e encoded, err error) {
	if e.output, err = encode(o.output); err != nil {
		return encoded{}, err
	}
	if err = l.check(func() string { return fmt.Sprintf("output of step %q", step) }, e.output); err != nil {
		return encoded{}, err
	}
	e.messages = make([]json.RawMessage, len(o.branches))
	total := 0
	for i, b := range o.branches {
		if e.messages[i], err = encode(b.Message); err != nil {
			return encoded{}, err
		}
		if err = l.check(func() string { return o.messageName(step, i) }, e.messages[i]); err != nil {
			return encoded{}, err
		}
		total += len(e.messages[i])
	}
	if total > l.outcome {
		return encoded{}, tooLarge(fmt.Sprintf("the %d messages of step %q together", len(o.branches), step), total, l.outcome,
			"split in two levels, or put the data into files or blobs, and hand on their names")
	}
	return e, nil
}

// messageName is what an error calls message i of the outcome.
func (o Outcome) messageName(step string, i int) string {
	b := o.branches[i]
	switch {
	case o.kind == outcomeNext:
		return fmt.Sprintf("message of step %q to step %q", step, b.Step)
	case b.Number > 0:
		return fmt.Sprintf("message %d of %d of step %q to step %q, branch number %d", i+1, len(o.branches), step, b.Step, b.Number)
	}
	return fmt.Sprintf("message %d of %d of step %q to step %q", i+1, len(o.branches), step, b.Step)
}

// encode gives a value as JSON; nil for a nil value.
func encode(value any) (json.RawMessage, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if len(v) > 0 && !(json.Valid(v) && utf8.Valid(v)) {
			return nil, fmt.Errorf("%w: message is no JSON in UTF-8: %.80q", ErrOutcome, v)
		}
		return v, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOutcome, err)
	}
	return data, nil
}
