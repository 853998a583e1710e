package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// WithParent puts the span that the process was started under, by TRACEPARENT and
// TRACESTATE in its environment, into ctx.
func WithParent(ctx context.Context, getenv func(string) string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": getenv("TRACEPARENT"), "tracestate": getenv("TRACESTATE"),
	})
}

// LogHandler marks what is logged below a span that is exported with trace_id
// and span_id, so that the one can be found by the other.
func LogHandler(h slog.Handler) slog.Handler { return spanHandler{h} }

type spanHandler struct{ slog.Handler }

func (h spanHandler) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h spanHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return spanHandler{h.Handler.WithAttrs(attrs)}
}

func (h spanHandler) WithGroup(name string) slog.Handler {
	return spanHandler{h.Handler.WithGroup(name)}
}
