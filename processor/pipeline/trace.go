package pipeline

import (
	"context"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// traceOf is the trace that an attempt belongs to, by the names of W3C Trace
// Context: traceparent and, perhaps, tracestate. It is empty if nobody traces.
func traceOf(ctx context.Context) propagation.MapCarrier {
	trace := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, trace)
	return trace
}

// traceEnvironment is how programs are told of a trace.
func traceEnvironment(ctx context.Context) []string {
	trace := traceOf(ctx)
	var variables []string
	for _, name := range slices.Sorted(maps.Keys(trace)) {
		variables = append(variables, strings.ToUpper(name)+"="+trace[name])
	}
	return variables
}

// isTrace reports whether a variable tells of a trace: in the worker's own
// environment, of one that its runs are no part of.
func isTrace(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.EqualFold(name, "TRACEPARENT") || strings.EqualFold(name, "TRACESTATE")
}
