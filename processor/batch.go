package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope/store"
)

// batchStep is the step of batch events in every pipeline. Its name is none that a
// step of a pipeline can have. It is tried for longer than a store is likely to be
// out of reach.
var batchStep = Step{Name: "(batch)", Retry: Retry{Attempts: 20}}

// stepFor is the step that handles an event; nil if the pipeline has none.
func (p *Pipeline) stepFor(e *eventstream.Event) *Step {
	if isBatch(e) {
		return &batchStep
	}
	return p.Step(e.Topic())
}

// batch is a claim of a batch event: what its built-in handler works with.
type batch struct {
	p        *Processor
	doc      string // of the child
	start    eventstream.Start
	attempt  int
	reopened int
	policy   eventstream.Policy // of the child's split
	again    again              // what a retry asks for
	claim    *claim
}

// setBatch gives a claim of a batch event the built-in handler.
func (cl *claim) setBatch(p *Processor, s *eventstream.Stream, e *eventstream.Event) {
	b := &batch{
		p: p, doc: childOf(cl.stream, e.ID()), attempt: e.Attempt(), reopened: e.Reopened(), claim: cl,
		again: parseAgain(e.Cursor()),
	}
	if e.Prev().Policy() == eventstream.FailFast {
		b.policy = eventstream.FailFast
	}
	b.start = eventstream.Start{
		Name: b.doc, Run: s.Run(), Pipeline: s.Attr("pipeline"), Definition: s.Attr("definition"),
		Attrs: []string{attrAttempt, strconv.Itoa(b.attempt), attrReopened, strconv.Itoa(b.reopened)},
		Root:  eventstream.NewEvent{Name: batchName, Topic: e.Topic(), TrackingID: e.Attr("trackingId")},
	}
	if span := parentOf(e); span != "" {
		b.start.Root.Attrs = []string{traceparent, span}
	}
	step := batchStep
	step.Handler = b.open
	cl.step, cl.batch = &step, b
}

// open makes the child stream exist and be open for this attempt. It ends in a
// Wait, or in a report if there is nothing left to wait for.
func (b *batch) open(ctx context.Context, t *Task) (Outcome, error) {
	for {
		info, err := b.p.locate(ctx, b.doc, b.start.Run)
		switch {
		case errors.Is(err, ErrNoRun):
			err = b.create(ctx, t.Input)
			if err == nil {
				return Wait(0), nil
			}
		case err != nil:
		case info.Name == BlobOf(b.doc):
			var r *report
			if r, err = b.takeOver(ctx, t.Input); err == nil {
				return r.outcome(), nil
			}
		default:
			var r *report
			if r, err = b.bringBack(ctx, info, t.Input); err == nil {
				return r.outcome(), nil
			}
		}
		if !isMoved(err) {
			return Outcome{}, err
		}
		if ctx.Err() != nil {
			return Outcome{}, context.Cause(ctx)
		}
	}
}

// disown is for a claim whose outcome was refused. The batch event may have ended
// while its child was made; then the child must not go on.
func (cl *claim) disown(ctx context.Context) {
	if cl.batch == nil {
		return
	}
	b := cl.batch
	snapshot, err := b.p.read(ctx, cl.stream, cl.run)
	if err == nil && snapshot.Stream.Run() == cl.run {
		if e := snapshot.Stream.Event(cl.event); e != nil {
			err = b.p.align(ctx, b.doc, wishOf(snapshot.Stream, e))
		}
	}
	if err != nil && !errors.Is(err, ErrNoRun) {
		b.p.log.WarnContext(ctx, "a child stream was not brought up to date; the sweep does it", "stream", b.doc, "err", err)
	}
}

// isMoved tells that a document is not where it was when it was looked for.
func isMoved(err error) bool {
	return errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrNotFound) ||
		errors.Is(err, errMoved) || errors.Is(err, errArchived)
}

// create writes the child with all its branches, unless it is there.
func (b *batch) create(ctx context.Context, messages json.RawMessage) error {
	branches, err := b.branches(ctx, messages)
	if err != nil {
		return err
	}
	now := b.p.scope.Now()
	s, err := eventstream.New(now, b.start)
	if err != nil {
		return err
	}
	if _, err := s.Edit(now, func() error { return b.split(s, branches) }); err != nil {
		return err
	}
	res, err := b.p.scope.Create(ctx, BlobOf(b.doc), s)
	if err != nil {
		return err
	}
	b.p.tell(ctx, b.doc, res)
	return nil
}

func (b *batch) split(s *eventstream.Stream, branches []eventstream.NewEvent) error {
	_, err := s.Split(s.Root(), branches, &eventstream.SplitOptions{Policy: b.policy})
	return err
}

// branches are the events that the child begins with.
func (b *batch) branches(ctx context.Context, messages json.RawMessage) ([]eventstream.NewEvent, error) {
	var list []partGroup
	if err := json.Unmarshal(messages, &list); err != nil {
		return nil, fmt.Errorf("%w: messages of batch event %s: %w", ErrPayload, b.claim.task.Event, err)
	}
	pw := &payloads{p: b.p, run: b.claim.run, event: b.claim.task.Event}
	var events []eventstream.NewEvent
	for _, group := range list {
		if len(group.Messages) == 0 {
			group.Messages = []json.RawMessage{nil}
		}
		for _, message := range group.Messages {
			input, err := pw.put(ctx, inputKind, message)
			if err != nil {
				return nil, err
			}
			events = append(events, eventstream.NewEvent{Name: group.Step, Input: input, Branch: group.Number, Due: group.Due})
		}
	}
	return events, nil
}

// takeOver puts this attempt on a child that is there already, reopens it if a
// retry asks for that, and reports if it has ended. A child that another run of
// the name left behind is removed first.
func (b *batch) takeOver(ctx context.Context, messages json.RawMessage) (r *report, err error) {
	adopt, err := b.adoption(ctx, messages)
	if err != nil {
		return nil, err
	}
	var bells []bus.Doorbell
	_, err = b.p.change(ctx, b.doc, func(s *eventstream.Stream) (err error) {
		r, err = adopt(s)
		bells = bellsOf(b.doc, s, b.p.scope.Now())
		return err
	})
	if errors.Is(err, errStale) {
		return nil, b.p.removeStale(ctx, b.doc, b.start.Run)
	}
	if err == nil {
		b.p.wake(ctx, b.doc, bells)
	}
	return r, err
}

// errStale: a child stream belongs to a run that had the name before.
var errStale = errors.New("the child stream is of another run")

// removeStale removes a child that belongs to another run, of which nothing else
// can be left: a name serves one run at a time. It returns an error that asks for
// another look, unless that failed.
func (p *Processor) removeStale(ctx context.Context, doc, run string) error {
	snapshot, err := p.scope.Read(ctx, BlobOf(doc))
	switch {
	case err != nil:
		return err
	case snapshot.Stream.Run() == run:
		return errMoved
	}
	err = p.remove(ctx, BlobOf(doc), snapshot.ETag)
	if err != nil && !errors.Is(err, store.ErrConditionNotMet) {
		return err
	}
	return errMoved
}

// bringBack is takeOver for a child in the archive, which comes back only if it
// has to be open again.
func (b *batch) bringBack(ctx context.Context, info *store.Info, messages json.RawMessage) (r *report, err error) {
	adopt, err := b.adoption(ctx, messages)
	if err != nil {
		return nil, err
	}
	err = b.p.reopenArchived(ctx, b.doc, info, func(s *eventstream.Stream) (err error) {
		if r, err = adopt(s); err == nil && s.IsDone() {
			err = errStillDone
		}
		return err
	})
	if errors.Is(err, errStillDone) {
		return r, nil
	}
	return r, err
}

// errStillDone keeps a child in the archive that is not reopened.
var errStillDone = errors.New("the child stream has ended")

// adoption is what an edit does to a child that is there already. The report is
// nil if the child goes on.
func (b *batch) adoption(ctx context.Context, messages json.RawMessage) (func(*eventstream.Stream) (*report, error), error) {
	var branches []eventstream.NewEvent
	var failing map[string]bool
	var err error
	if b.again.Whole {
		branches, err = b.branches(ctx, messages)
	} else if b.reopened > 0 {
		failing, err = b.failing(ctx)
	}
	if err != nil {
		return nil, err
	}
	return func(s *eventstream.Stream) (*report, error) {
		switch {
		case s.Run() != b.start.Run:
			return nil, errStale
		case rootNumber(s, attrAttempt) > b.attempt:
			return nil, fmt.Errorf("batch event %s: %w: the child is open for attempt %d", b.claim.event, eventstream.ErrNotOwner, rootNumber(s, attrAttempt))
		}
		if rootNumber(s, attrReopened) < b.reopened {
			if err := b.reopen(s, branches, failing); err != nil {
				return nil, err
			}
		}
		if s.IsDone() {
			return reportOf(s), nil
		}
		return nil, s.SetAttrs(b.start.Attrs...)
	}, nil
}

// failing are the batch events of the child to which a retry goes on.
func (b *batch) failing(ctx context.Context) (map[string]bool, error) {
	snapshot, err := b.p.read(ctx, b.doc, b.start.Run)
	if err != nil {
		return nil, err
	}
	return b.p.failing(ctx, b.doc, snapshot.Stream)
}

// reopen carries out a retry. That there is nothing to run again, or no longer,
// is no error: the batch ends as the child is.
func (b *batch) reopen(s *eventstream.Stream, branches []eventstream.NewEvent, failing map[string]bool) error {
	if !b.again.Whole {
		_, err := b.again.apply(s, failing)
		if errors.Is(err, eventstream.ErrNothingToReopen) || errors.Is(err, ErrNoEvent) {
			return nil
		}
		return err
	}
	if _, err := s.Reopen(&eventstream.ReopenOptions{From: s.Root(), By: b.again.By}); err != nil {
		return err
	}
	return b.split(s, branches)
}

// rootNumber is a count on the root element.
func rootNumber(s *eventstream.Stream, name string) int {
	n, err := strconv.Atoi(s.Attr(name))
	if err != nil {
		return 0
	}
	return n
}

// report is how a child stream ended, for its batch event.
type report struct {
	status     eventstream.Status
	ok, failed int
	msg, by    string
	attempt    int // of the batch event, as the child has it
}

// reportOf sums up a child that has ended.
func reportOf(s *eventstream.Stream) *report {
	root := s.Root()
	_, ok, failed := root.Tally()
	status, withError := s.Status()
	r := &report{
		status: status, ok: ok, failed: failed,
		msg: root.Msg(), by: root.Attr("by"), attempt: rootNumber(s, attrAttempt),
	}
	if status == eventstream.Completed && (withError || failed > 0) {
		r.msg = "WithError"
	}
	return r
}

// outcome is that of the built-in handler. The child of a nil report goes on.
func (r *report) outcome() Outcome {
	if r == nil {
		return Wait(0)
	}
	return Outcome{kind: outcomeReport, report: r}
}

// apply ends the batch event as its child did.
func (r *report) apply(s *eventstream.Stream, e *eventstream.Event) error {
	pairs := []string{"status", r.status.String(), "ok", strconv.Itoa(r.ok), "failed", strconv.Itoa(r.failed)}
	for name, value := range map[string]string{"msg": r.msg, "by": r.by} {
		if value != "" {
			pairs = append(pairs, name, value)
		}
	}
	return s.Update(e, pairs...)
}

// count writes down how the branches of a child that goes on stand.
func (r *report) count(s *eventstream.Stream, e *eventstream.Event) error {
	return s.Update(e, "ok", strconv.Itoa(r.ok), "failed", strconv.Itoa(r.failed))
}

// report tells the parent of a child that has ended. It is refused, with
// ErrNotOwner, if the batch event is no longer open for the attempt that the child
// was opened for.
func (p *Processor) report(ctx context.Context, doc string, r *report) error {
	parent, id, isChild := parentDocument(doc)
	if !isChild {
		return nil
	}
	_, err := p.edit(ctx, parent, func(s *eventstream.Stream) error {
		e := s.Event(id)
		if !awaits(e, r.attempt) {
			return fmt.Errorf("batch event %s of %q: %w", id, parent, eventstream.ErrNotOwner)
		}
		return r.apply(s, e)
	})
	return err
}

// awaits reports whether a batch event is open for this attempt: it waits, or its
// handler is about to let it.
func awaits(e *eventstream.Event, attempt int) bool {
	return e != nil && isBatch(e) && !e.Superseded() && (e.Waiting() || e.Running()) && e.Attempt() == attempt
}

// reportTimeout bounds the edit of the parent by whoever ended a child; after that
// it is left to the sweep.
const reportTimeout = time.Minute

// reportEnd is for who has just ended a document.
func (p *Processor) reportEnd(ctx context.Context, doc string, r *report) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	err := p.report(ctx, doc, r)
	if err != nil && !errors.Is(err, eventstream.ErrNotOwner) && !errors.Is(err, ErrNoRun) {
		p.log.WarnContext(ctx, "the end of a child stream was not reported; the sweep does it", "stream", doc, "err", err)
	}
}
