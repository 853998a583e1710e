package processor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// wideLimits is what one document may be asked to take of a split. A split that
// is beyond is divided into parts of this size, each with a child stream.
type wideLimits struct {
	branches int
	bytes    int // of the messages, as JSON
}

var defaultWideLimits = wideLimits{branches: 1000, bytes: 1 << 20}

// wideAt are the limits for a number of branches, as in [Options].
func wideAt(branches int) wideLimits {
	switch {
	case branches > 0:
		return wideLimits{branches, defaultWideLimits.bytes}
	case branches < 0:
		return wideLimits{math.MaxInt, math.MaxInt}
	}
	return defaultWideLimits
}

// part is a part of a wide split: what its batch event needs.
type part struct {
	branches int
	topic    string // the step of its first branch, whose workers open the child
	payload  *eventstream.Payload
}

// partBranch is a branch of a part.
type partBranch struct {
	step    string
	message json.RawMessage
	number  int
	due     time.Time
	delay   time.Duration // of the branch itself
}

// partGroup is how the payload of a part has its branches: those that follow one
// another and differ in their messages alone.
type partGroup struct {
	Step     string            `json:"step"`
	Messages []json.RawMessage `json:"messages,omitempty"` // none: one branch, without a message
	Number   int               `json:"number,omitempty"`   // of a branch that is alone
	Due      time.Time         `json:"due,omitzero"`
}

// takes reports whether a branch can be put to those of a group.
func (g *partGroup) takes(b partBranch) bool {
	return len(g.Messages) > 0 && len(b.message) > 0 && g.Number == 0 && b.number == 0 &&
		g.Step == b.step && g.Due.Equal(b.due)
}

// errUnwritten: a payload could not be written. It is no fault of the handler.
var errUnwritten = errors.New("payload was not written")

// isWide reports whether these messages are too many, or too big, for one document.
func (l wideLimits) isWide(messages []json.RawMessage) bool {
	total := 0
	for _, m := range messages {
		total += len(m)
	}
	return len(messages) > l.branches || len(messages) > 1 && total > l.bytes
}

// divider takes the branches of a split one by one. As soon as they are more than
// a document is to take it writes them out, a part at a time, each beside the taking
// in of the next ones, and so never has more than a few parts in memory.
type divider struct {
	p        *Processor
	pipeline *Pipeline
	step     *Step
	payloads *payloads

	taken   int
	open    []partBranch
	bytes   int // of their messages
	parts   []*part
	writers *errgroup.Group
	failed  context.Context // of the writers; ended by the first that fails
	numbers map[int]bool    // that the splitter has chosen
}

// partWriters is how many parts are written at a time.
const partWriters = 2

// divider returns one that has to be waited for.
func (w *worker) divider(ctx context.Context, cl *claim) *divider {
	d := &divider{
		p: w.p, pipeline: cl.pipeline, step: cl.step, numbers: map[int]bool{},
		payloads: &payloads{p: w.p, run: cl.run, event: cl.task.Event},
	}
	d.writers, d.failed = errgroup.WithContext(ctx)
	d.writers.SetLimit(partWriters)
	return d
}

// divide divides the branches of a split if it is wide.
func (w *worker) divide(ctx context.Context, cl *claim, out Outcome, data encoded) (Outcome, error) {
	if out.kind != outcomeSplit || !w.p.wide.isWide(data.messages) {
		return out, nil
	}
	d := w.divider(ctx, cl)
	defer d.wait()
	for i, b := range out.branches {
		if err := d.add(b, data.messages[i]); err != nil {
			return out, err
		}
	}
	return d.outcome(out)
}

// readMessages takes in the messages of a SplitSeq, which are the handler's work,
// under its context. What cannot be carried out, now or ever, aborts the event.
func (w *worker) readMessages(ctx context.Context, cl *claim, out Outcome) (Outcome, error) {
	if out.messages == nil {
		return out, nil
	}
	d := w.divider(ctx, cl)
	defer d.wait()
	err := d.read(ctx, out.messages)
	if err == nil {
		out, err = d.outcome(out)
	}
	if errors.Is(err, ErrOutcome) || errors.Is(err, store.ErrTooLarge) {
		return Abort(err.Error()), nil
	}
	return out, err
}

func (d *divider) read(ctx context.Context, messages iter.Seq2[Branch, error]) error {
	for b, err := range messages {
		if err == nil {
			err = context.Cause(ctx)
		}
		var data json.RawMessage
		if err == nil {
			data, err = d.check(b)
		}
		if err == nil {
			err = d.add(b, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check is for a branch that was not looked at together with all others.
func (d *divider) check(b Branch) (json.RawMessage, error) {
	if d.pipeline.Step(b.Step) == nil {
		return nil, d.pipeline.noStep(d.step, b.Step, "")
	}
	data, err := encode(b.Message)
	if err != nil {
		return nil, err
	}
	name := func() string {
		return fmt.Sprintf("message %d of step %q to step %q", d.taken+1, d.step.Name, b.Step)
	}
	return data, d.p.limits.check(name, data)
}

func (d *divider) add(b Branch, data json.RawMessage) error {
	if d.numbers[b.Number] {
		return fmt.Errorf("%w of step %q: %w: two branches have the number %d", ErrOutcome, d.step.Name, eventstream.ErrBranch, b.Number)
	}
	if b.Number != 0 {
		d.numbers[b.Number] = true
	}
	limits := d.p.wide
	if n := len(d.open); n >= limits.branches || n > 0 && d.bytes+len(data) > limits.bytes {
		if err := context.Cause(d.failed); err != nil {
			return err
		}
		d.flush()
	}
	branch := partBranch{step: b.Step, message: data, number: b.Number, delay: b.Delay}
	if delay := max(b.Delay, d.pipeline.Step(b.Step).Delay); delay > 0 {
		branch.due = d.p.scope.Now().Add(delay)
	}
	d.open = append(d.open, branch)
	d.bytes += len(data)
	d.taken++
	return nil
}

// flush hands what was taken since the last time to a writer, as one part. It waits
// for one that is free.
func (d *divider) flush() {
	branches := d.open
	written := &part{branches: len(branches), topic: branches[0].step}
	d.parts = append(d.parts, written)
	d.open, d.bytes = nil, 0
	d.writers.Go(func() (err error) {
		written.payload, err = d.write(branches)
		return err
	})
}

func (d *divider) write(branches []partBranch) (*eventstream.Payload, error) {
	data, err := encodePart(branches)
	if err != nil {
		return nil, err
	}
	payload, err := d.payloads.write(d.failed, string(inputKind), "application/json", data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnwritten, err)
	}
	return payload, nil
}

// wait waits for the writers, and returns the error of the first one that failed.
func (d *divider) wait() error { return d.writers.Wait() }

// outcome puts the branches into an outcome: in parts, if there were too many, or as
// they are.
func (d *divider) outcome(out Outcome) (Outcome, error) {
	out.branches, out.messages = nil, nil
	if len(d.parts) == 0 {
		for _, b := range d.open {
			out.branches = append(out.branches, Branch{Step: b.step, Message: b.message, Number: b.number, Delay: b.delay})
		}
		return out, nil
	}
	d.flush()
	out.parts = d.parts
	return out, d.wait()
}

// encodePart writes messages as they are: a < stays one.
func encodePart(branches []partBranch) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(groups(branches)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOutcome, err)
	}
	return b.Bytes(), nil
}

func groups(branches []partBranch) []*partGroup {
	var list []*partGroup
	for _, b := range branches {
		if n := len(list); n == 0 || !list[n-1].takes(b) {
			list = append(list, &partGroup{Step: b.step, Number: b.number, Due: b.due})
		}
		if g := list[len(list)-1]; len(b.message) > 0 {
			g.Messages = append(g.Messages, b.message)
		}
	}
	return list
}

// noStep says that an outcome names a step that does not exist.
func (p *Pipeline) noStep(of *Step, name, use string) error {
	return fmt.Errorf("%w of step %q: pipeline %q has no step %q%s", ErrOutcome, of.Name, p.name, name, use)
}

// The attributes of a batch event that the model does not know of, and those that
// its child has on the root element.
const (
	batchName    = "batch" // of batch events and of the roots of their children
	attrChild    = "child"
	attrAttempt  = "attempt"  // of the batch event, as the child was last opened for it
	attrReopened = "reopened" // likewise
)

// isBatch reports whether an event is a batch event of ours, with a child stream.
func isBatch(e *eventstream.Event) bool { return e.IsBatch() && e.Attr(attrChild) != "" }

// applyWide appends one batch event per part in place of the branches.
func (v *verdict) applyWide(s *eventstream.Stream, e *eventstream.Event, o *eventstream.SplitOptions) error {
	events := make([]eventstream.NewEvent, len(v.parts))
	for i, part := range v.parts {
		events[i] = eventstream.NewEvent{
			Name: batchName, Topic: part.topic, Input: part.payload,
			Attrs: []string{"branches", strconv.Itoa(part.branches)},
		}
	}
	created, err := s.Split(e, events, o)
	if err != nil {
		return err
	}
	for _, b := range created {
		if b.Status().Final() {
			continue // by a policy that so few branches can never meet
		}
		if err := s.Update(b, attrChild, b.ID()); err != nil {
			return err
		}
	}
	return nil
}
