package processor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
)

// attempt is what is told of one attempt to handle an event: a span, metrics and
// lines in the log.
type attempt struct {
	w     *worker
	cl    *claim
	began time.Time
}

// begin begins an attempt. Its context carries the span, or, where nobody traces
// here, what the document has of the trace.
func (w *worker) begin(ctx context.Context, cl *claim) (context.Context, attempt) {
	a := attempt{w: w, cl: cl, began: time.Now()}
	w.p.meters.claimed(ctx, cl)
	ctx = withParent(ctx, cl.trace)
	if w.p.tracer != nil {
		ctx, cl.span = w.p.tracer.Start(ctx, "process "+cl.step.Name,
			trace.WithSpanKind(trace.SpanKindConsumer),
			trace.WithAttributes(append(cl.where(),
				keyStream.String(cl.stream), keyRun.String(cl.run), keyEvent.String(cl.event),
				keyAttempt.Int(cl.attempt), keyWorker.String(w.id))...))
	}
	return ctx, a
}

// end tells how the attempt ended, when its outcome is written or given up.
func (a *attempt) end(ctx context.Context) {
	ended := &a.cl.ended
	a.w.p.meters.ended(ctx, a.cl, time.Since(a.began))
	a.log(ctx, ended)
	span := a.cl.span
	if span == nil {
		return
	}
	span.SetAttributes(keyOutcome.String(ended.outcome))
	if ended.reason != "" {
		span.SetStatus(codes.Error, ended.reason)
	}
	span.End()
}

// log tells of attempts whose outcome was written; of others report has told
// more.
func (a *attempt) log(ctx context.Context, ended *ending) {
	level, text := slog.LevelDebug, "attempt ended"
	if ended.reason != "" {
		level, text = slog.LevelInfo, "attempt failed"
	}
	if ended.written && a.w.log.Enabled(ctx, level) {
		a.w.logOf(a.cl).Log(ctx, level, text, "outcome", ended.outcome, "err", ended.reason)
	}
}

// ending is how an attempt ended.
type ending struct {
	outcome string
	written bool   // into the stream
	reason  string // why it failed; "" if it did not
	timeout bool   // it failed by the timeout of its step
}

// Outcomes, as metrics and spans have them, beside those that have the names of
// what a handler returned.
const (
	endedRetry     = "retry"      // failed, to be repeated
	endedGivenBack = "given_back" // the worker ends; it is as if the attempt had not been
	endedFallback  = "on_failure" // failed for good, handed on to the step for that
	endedStopped   = "stopped"    // canceled, or the worker lost its lease: dropped
	endedRefused   = "refused"    // came when the event was no longer ours
	endedUnknown   = "unknown"    // whether it was written is not known
	endedUnwritten = "unwritten"  // the store did not take it, the event will run again
)

// What makes an attempt be repeated.
const (
	causeError   = "error"
	causeTimeout = "timeout"
	causeWorker  = "worker" // it died
)

func (e *ending) cause() string {
	if e.timeout {
		return causeTimeout
	}
	return causeError
}

// dropped is the end of an attempt without a verdict.
func dropped(outcome string, err error) ending {
	return ending{outcome: outcome, reason: printable(err.Error())}
}

// ending is that of an attempt whose outcome edit returned err.
func (v *verdict) ending(err error) ending {
	switch {
	case err == nil:
		return ending{outcome: v.outcome(), written: true, reason: v.reason, timeout: v.timedOut}
	case errors.Is(err, eventstream.ErrNotOwner) || errors.Is(err, ErrNoRun):
		return dropped(endedRefused, err)
	case errors.Is(err, scope.ErrOutcomeUnknown):
		return dropped(endedUnknown, err)
	}
	return dropped(endedUnwritten, err)
}

// outcomeNames are the kinds of outcome as metrics and spans have them.
var outcomeNames = [outcomeKinds]string{
	outcomeComplete: "complete",
	outcomeNext:     "next",
	outcomeSplit:    "split",
	outcomeWait:     "wait",
	outcomeAbort:    "abort",
	outcomeReport:   "report",
}

// outcome is what the verdict does to the event.
func (v *verdict) outcome() string {
	switch {
	case v.giveBack:
		return endedGivenBack
	case v.failed && !v.last:
		return endedRetry
	case v.fallback != nil:
		return endedFallback
	case v.failed:
		return outcomeNames[outcomeAbort]
	}
	return outcomeNames[v.kind]
}

// handsOn reports whether events may follow on the outcome.
func (v *verdict) handsOn() bool {
	if v.failed || v.giveBack {
		return v.fallback != nil
	}
	return v.fallback != nil || v.kind == outcomeNext || v.kind == outcomeSplit
}
