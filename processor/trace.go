package processor

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/eventstream"
)

// A run is one trace. The attribute traceparent of an event names the span that
// events which follow it belong below: of the root event, at first, that of
// Start; of an event that has handed on, that of the attempt which did. Events
// without successors, most of a wide run, need none.

// traceparent is the attribute, as W3C Trace Context names and writes it.
const traceparent = "traceparent"

// newTracer is nil if nobody traces.
func newTracer(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		return nil
	}
	return p.Tracer(instrumentation)
}

// traceparentOf is the span of a context as it stands in a document; "" if there
// is none.
func traceparentOf(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get(traceparent)
}

// parentOf is the span, as it stands in the document, that attempts of an event
// belong below.
func parentOf(e *eventstream.Event) string {
	if prev := e.Prev(); prev != nil {
		return prev.Attr(traceparent)
	}
	return e.Attr(traceparent)
}

// longElement is from how many bytes on it takes longer to look through an element than
// for anything else about a claim: that of a splitter names all its branches.
const longElement = 4 << 10

// parentSpan is what parentOf says of those who follow on an element.
type parentSpan struct{ element, span string }

// parentOf is parentOf, which remembers the last long element.
func (w *worker) parentOf(e *eventstream.Event) string {
	prev := e.Prev()
	if prev == nil || len(prev.XML()) < longElement {
		return parentOf(e)
	}
	if last := w.parent.Load(); last != nil && last.element == prev.XML() {
		return last.span
	}
	span := parentOf(e)
	w.parent.Store(&parentSpan{prev.XML(), span})
	return span
}

// withParent puts the span that a document names in the place of the span that
// the context has, which is none of the run's. What cannot be read is none.
func withParent(ctx context.Context, parent string) context.Context {
	if parent == "" && !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: parent})
}

// keepTrace notes the span of the attempt for those who follow on it, and
// leaveTrace writes it down for them.
func (v *verdict) keepTrace(cl *claim) {
	if v.handsOn() {
		v.trace = cl.traceparent()
	}
}

// traceparent is the span of a claim's attempt, or, where nobody traces, the one
// that it would belong below.
func (cl *claim) traceparent() string {
	ctx := withParent(context.Background(), cl.trace)
	if cl.span != nil {
		ctx = trace.ContextWithSpan(ctx, cl.span)
	}
	return traceparentOf(ctx)
}

func (v *verdict) leaveTrace(s *eventstream.Stream, e *eventstream.Event) error {
	if v.trace == "" {
		return nil
	}
	return s.Update(e, traceparent, v.trace)
}

// traceStart begins the span of the start of a run. end is to be called with
// what came of it.
func (p *Processor) traceStart(ctx context.Context, name, run string, pl *Pipeline) (_ context.Context, end func(error)) {
	if p.tracer == nil {
		return ctx, func(error) {}
	}
	ctx, span := p.tracer.Start(ctx, "start "+pl.Name(), trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(keyPipeline.String(pl.Name()), keyStream.String(name), keyRun.String(run)))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// traceAttrs are the attributes of the first event of a run that is started
// under a span.
func traceAttrs(ctx context.Context) []string {
	if parent := traceparentOf(ctx); parent != "" {
		return []string{traceparent, parent}
	}
	return nil
}
