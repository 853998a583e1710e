package processor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// occupy works in one slot: it runs a claim's handler, writes its outcome, and
// goes on with the event that the same edit claimed, if there was one.
func (w *worker) occupy(ctx context.Context, cl *claim) {
	defer w.freeSlots(1)
	for cl != nil {
		attemptCtx, attempt := w.begin(ctx, cl)
		out, err := w.handle(attemptCtx, cl)
		next := w.report(ctx, cl, out, err)
		attempt.end(attemptCtx)
		cl = next
	}
}

// handle runs the handler under a context that ends with the claim.
func (w *worker) handle(ctx context.Context, cl *claim) (Outcome, error) {
	if cl.failures >= cl.step.Retry.attempts() {
		return Outcome{}, errSpent
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.mu.Lock()
	cl.cancel = cancel
	w.mu.Unlock()
	if cl.step.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, cl.step.Timeout, ErrTimeout)
		defer stop()
	}
	if err := w.load(ctx, cl); err != nil {
		return Outcome{}, err
	}
	out, err := w.call(ctx, cl)
	return out, explain(ctx, err)
}

// explain puts the reason why the handler's context ended before its error, unless
// that says it already or says no more than that the context ended.
func explain(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case cause == nil || err == nil || errors.Is(err, cause):
		return err
	case err == ctx.Err():
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// errSpent stands for the outcome of an event whose retries were spent before
// this worker claimed it.
var errSpent = errors.New("its retries are spent")

// call runs a handler and takes in the branches that it ends in, which may be its
// code too; a panic is an error with its stack.
func (w *worker) call(ctx context.Context, cl *claim) (out Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", r, debug.Stack())
		}
	}()
	out, err = cl.step.Handler(ctx, cl.task)
	if err != nil {
		return out, err
	}
	return w.readMessages(ctx, cl, out)
}

func (cl *claim) stop(why error) { cl.cancel(fmt.Errorf("%w: %w", ErrCanceled, why)) }

// report writes the outcome of a claim and, in the same edit, claims events for its
// slot and all free ones. It returns the claim for its slot, or nil.
func (w *worker) report(ctx context.Context, cl *claim, out Outcome, err error) *claim {
	defer w.letGo(cl)
	w.unreserve(cl.pipeline, cl.step)
	if errors.Is(err, ErrWorkerLost) || errors.Is(err, ErrCanceled) {
		cl.ended = dropped(endedStopped, err)
		w.logOf(cl).InfoContext(ctx, "handler was stopped; its outcome is dropped", "err", err)
		return nil
	}
	detached := context.WithoutCancel(ctx)
	verdict, err := w.prepare(detached, cl, out, err) // each payload has a time of its own
	editCtx, cancel := context.WithTimeout(detached, w.p.timing.outcome)
	defer cancel()
	if errors.Is(err, store.ErrTooLarge) {
		return w.abort(editCtx, ctx, cl, err)
	}
	if err != nil {
		// Nothing was written: the event is still ours, and is given back as one
		// that nobody works on.
		return w.unwritten(ctx, cl, err)
	}
	return w.write(editCtx, ctx, cl, verdict)
}

func (w *worker) write(ctx, handlerCtx context.Context, cl *claim, v *verdict) *claim {
	next := &claiming{w: w, stream: cl.stream, own: 1}
	goesOn := w.goesOn(cl.stream)
	v.keepTrace(cl)
	var refused error // by the stream, as it would be at the next attempt
	_, err := w.p.edit(ctx, cl.stream, func(s *eventstream.Stream) error {
		if err := w.owns(s, cl.taskKey); err != nil {
			return err
		}
		if refused = v.apply(s, s.Event(cl.event)); refused != nil || !goesOn {
			return refused
		}
		return next.run(s)
	})
	cl.ended = v.ending(err)
	if err == nil {
		return next.occupy(handlerCtx)
	}
	next.reset()
	log := w.logOf(cl)
	switch {
	case (refused != nil || isTooLarge(err)) && v.kind != outcomeAbort:
		return w.abort(ctx, handlerCtx, cl, err)
	case errors.Is(err, eventstream.ErrNotOwner) || errors.Is(err, ErrNoRun):
		cl.disown(ctx)
		log.InfoContext(ctx, "outcome came too late and was refused", "err", err)
	case errors.Is(err, scope.ErrOutcomeUnknown):
		log.WarnContext(ctx, "whether the outcome was written is not known; if not, the event will run again", "err", err)
		cl.stray = true
	default:
		log.WarnContext(ctx, "outcome was not written; the event will run again", "err", err)
		cl.stray = true
	}
	return nil
}

// abort ends an event whose outcome cannot be written, now or ever.
func (w *worker) abort(ctx, handlerCtx context.Context, cl *claim, why error) *claim {
	v, err := w.prepare(ctx, cl, Abort(why.Error()), nil)
	if err != nil {
		return w.unwritten(ctx, cl, err)
	}
	return w.write(ctx, handlerCtx, cl, v)
}

// unwritten gives up an outcome that could not be prepared.
func (w *worker) unwritten(ctx context.Context, cl *claim, err error) *claim {
	cl.ended = dropped(endedUnwritten, err)
	w.logOf(cl).WarnContext(ctx, "outcome was not written; the event will run again", "err", err)
	cl.stray = true
	return nil
}

func isTooLarge(err error) bool {
	return errors.Is(err, store.ErrTooLarge) || errors.Is(err, eventstream.ErrTooLarge)
}

// goesOn reports whether a slot stays with its stream. It does not when the
// worker ends, when it is one slot too many, or when other runs wait for a slot:
// they get their turn.
func (w *worker) goesOn(stream string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.stopping && !w.allPaused && w.busy <= w.slots && !slices.ContainsFunc(w.queue, func(doc string) bool { return isOtherRun(doc, stream) })
}

// verdict is what the outcome edit does, worked out beforehand: payloads are
// written, steps and policies are checked.
type verdict struct {
	step     *Step
	kind     outcomeKind
	failed   bool // a failed attempt, with reason
	final    bool // its handler said that no other makes sense
	last     bool // no attempt follows on a failed one
	timedOut bool // it failed by the timeout of its step
	giveBack bool // the attempt is as if it had not been
	attempt  int
	reason   string
	after    time.Duration        // the wait that a failed attempt asks for
	log      *eventstream.Payload // of a failed attempt; nil if none is kept
	output   *eventstream.Payload
	report   *report // of a batch event
	parts    []*part // of a wide split, in place of branches
	branches []eventstream.NewEvent
	delays   []time.Duration
	split    eventstream.SplitOptions
	timeout  time.Duration
	fallback *eventstream.NewEvent // the step of on_failure
	trace    string                // the span of the attempt; "" for none
	now      func() time.Time
}

// prepare turns what a handler returned into a verdict. An error means that a
// payload could not be written.
func (w *worker) prepare(ctx context.Context, cl *claim, out Outcome, failure error) (*verdict, error) {
	v := &verdict{step: cl.step, kind: out.kind, attempt: cl.attempt, timeout: out.timeout, report: out.report, now: w.p.scope.Now}
	var data encoded
	switch {
	case errors.Is(failure, errUnwritten):
		return nil, failure
	case errors.Is(failure, ErrShutdown):
		v.giveBack = true
		return v, nil
	case errors.Is(failure, errSpent):
		v.kind, v.reason = outcomeAbort, failure.Error()
	case failure != nil:
		v.failed, v.reason, v.after = true, failure.Error(), retryAfter(failure)
		v.log = w.keepLog(ctx, cl, failure)
		v.timedOut, v.final = errors.Is(failure, ErrTimeout), isFinal(failure)
	case out.kind == outcomeAbort:
		v.reason = out.reason
	default:
		var err error
		if data, err = w.check(cl, out); err == nil {
			out, err = w.divide(ctx, cl, out, data)
		}
		if errors.Is(err, errUnwritten) {
			return nil, err
		}
		if err != nil {
			v.kind, v.reason = outcomeAbort, err.Error()
		}
	}
	v.reason = printable(v.reason)
	pw := &payloads{p: w.p, run: cl.run, event: cl.task.Event, document: cl.document}
	if v.failed || v.kind == outcomeAbort {
		return v, v.prepareFallback(ctx, cl, pw)
	}
	return v, v.preparePayloads(ctx, cl, out, data, pw)
}

// check refuses outcomes that name steps which do not exist, and what cannot be
// handed on.
func (w *worker) check(cl *claim, out Outcome) (encoded, error) {
	for _, b := range out.branches {
		if cl.pipeline.Step(b.Step) == nil {
			return encoded{}, cl.pipeline.noStep(cl.step, b.Step, "")
		}
	}
	if out.join != "" && cl.pipeline.Step(out.join) == nil {
		return encoded{}, cl.pipeline.noStep(cl.step, out.join, " to join in")
	}
	return out.encode(cl.step.Name, w.p.limits)
}

func (v *verdict) preparePayloads(ctx context.Context, cl *claim, out Outcome, data encoded, pw *payloads) (err error) {
	if v.output, err = pw.put(ctx, outputKind, data.output); err != nil {
		return err
	}
	for i, b := range out.branches {
		input, err := pw.put(ctx, inputKind, data.messages[i])
		if err != nil {
			return err
		}
		v.branches = append(v.branches, eventstream.NewEvent{Name: b.Step, Input: input, Branch: b.Number})
		v.delays = append(v.delays, max(b.Delay, cl.pipeline.Step(b.Step).Delay))
	}
	v.parts = out.parts
	v.split = eventstream.SplitOptions{Join: out.join, Policy: out.policy}
	return nil
}

// prepareFallback makes the message of the step that takes over when all
// retries have failed.
func (v *verdict) prepareFallback(ctx context.Context, cl *claim, pw *payloads) error {
	v.last = !v.failed || v.final || cl.failures+1 >= cl.step.Retry.attempts()
	if cl.step.OnFailure == "" || !v.last {
		return nil
	}
	message, err := encode(map[string]any{"input": cl.task.Input, "error": v.reason})
	if err != nil {
		return err
	}
	input, err := pw.put(ctx, inputKind, message)
	switch {
	case errors.Is(err, store.ErrTooLarge):
		v.reason = printable(fmt.Sprintf("%s; step %q was not asked: %v", v.reason, cl.step.OnFailure, err))
		return nil
	case err != nil:
		return err
	}
	v.fallback = &eventstream.NewEvent{Name: cl.step.OnFailure, Input: input}
	return nil
}

// apply carries the verdict out. It depends on the stream alone, and may run
// again on fresher content.
func (v *verdict) apply(s *eventstream.Stream, e *eventstream.Event) error {
	if err := v.leaveTrace(s, e); err != nil {
		return err
	}
	switch {
	case v.giveBack:
		return s.GiveBack(e, time.Time{})
	case v.failed:
		return v.applyFailure(s, e)
	}
	switch v.kind {
	case outcomeNext:
		_, err := s.Next(e, v.dated(0))
		return err
	case outcomeSplit:
		return v.applySplit(s, e)
	case outcomeWait:
		return s.Wait(e, v.timeout)
	case outcomeAbort:
		return v.giveUp(s, e)
	case outcomeReport:
		return v.report.apply(s, e)
	}
	return s.Complete(e, v.output)
}

// dated is a new event with the time from which it may be claimed.
func (v *verdict) dated(i int) eventstream.NewEvent {
	n := v.branches[i]
	if v.delays[i] > 0 {
		n.Due = v.now().Add(v.delays[i])
	}
	return n
}

func (v *verdict) applySplit(s *eventstream.Stream, e *eventstream.Event) error {
	branches := make([]eventstream.NewEvent, len(v.branches))
	for i := range v.branches {
		branches[i] = v.dated(i)
	}
	split := v.split
	if v.timeout > 0 {
		split.Due = v.now().Add(v.timeout)
	}
	if len(v.parts) > 0 {
		return v.applyWide(s, e, &split)
	}
	_, err := s.Split(e, branches, &split)
	if errors.Is(err, eventstream.ErrBranch) {
		return s.Abort(e, "", err.Error())
	}
	return err
}

// applyFailure records a failed attempt and puts the event back to be tried
// again, or gives up.
func (v *verdict) applyFailure(s *eventstream.Stream, e *eventstream.Event) error {
	attempt := eventstream.Attempt{N: v.attempt, Error: v.reason}
	if v.log != nil {
		attempt.Ref, attempt.Bytes, attempt.SHA256 = v.log.Ref, v.log.Bytes, v.log.SHA256
	}
	if err := s.Fail(e, attempt); err != nil {
		return err
	}
	failures := e.Failures()
	if v.final || failures >= v.step.Retry.attempts() {
		return v.giveUp(s, e)
	}
	return s.GiveBack(e, v.now().Add(max(v.after, jitter(v.step.Retry.wait(failures)))))
}

func (v *verdict) giveUp(s *eventstream.Stream, e *eventstream.Event) error {
	if v.fallback == nil {
		return s.Abort(e, "", v.reason)
	}
	_, err := s.Next(e, *v.fallback)
	return err
}

// jitter spreads waits over half to all of their length, so that what failed
// together is not tried together.
func jitter(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}
