package processor_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// spans are what was traced, by stream, event and attempt; the start of a run is
// attempt 0 of no event.
type spans map[spanKey]tracetest.SpanStub

type spanKey struct {
	event   string
	attempt int64
}

func spansOf(t *testing.T, exporter *tracetest.InMemoryExporter, stream string) spans {
	t.Helper()
	got := spans{}
	for _, span := range exporter.GetSpans() {
		attrs := attribute.NewSet(span.Attributes...)
		text := func(key string) string { v, _ := attrs.Value(attribute.Key(key)); return v.AsString() }
		if text("leasestream.stream") != stream {
			continue
		}
		n, _ := attrs.Value("leasestream.attempt")
		key := spanKey{text("leasestream.event"), n.AsInt64()}
		if _, twice := got[key]; twice {
			t.Errorf("attempt %v has two spans", key)
		}
		got[key] = span
	}
	return got
}

// wantBelow checks that the spans of each event's attempts are below the one of
// the attempt that made it, in one trace below that of the start.
func (s spans) wantBelow(t *testing.T, stream *eventstream.Stream) {
	t.Helper()
	want := 1
	for e := range stream.Events() {
		parent := spanKey{}
		if prev := e.Prev(); prev != nil {
			parent = spanKey{prev.ID(), int64(prev.Attempt())}
		}
		for n := range int64(e.Attempt()) {
			want++
			span, above := s[spanKey{e.ID(), n + 1}], s[parent]
			if span.Parent.SpanID() != above.SpanContext.SpanID() || span.SpanContext.TraceID() != s[spanKey{}].SpanContext.TraceID() {
				t.Errorf("span of event %s attempt %d is below %v in trace %v, want it below that of %v", e.ID(), n+1,
					span.Parent.SpanID(), span.SpanContext.TraceID(), parent)
			}
		}
	}
	if len(s) != want {
		t.Errorf("%d spans, want %d", len(s), want)
	}
}

// nested splits twice; the step Square fails once for the number 3.
func nested(t *testing.T, square processor.Handler) *processor.Pipeline {
	var failed atomic.Bool
	return pipeline(t,
		processor.Step{Name: "Outer", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Split("Split", 2, 3).Join("Sum"), nil
		}},
		processor.Step{Name: "Split", Handler: splitNumbers},
		processor.Step{Name: "Square", Retry: processor.Retry{Attempts: 2, Backoff: time.Millisecond},
			Handler: func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				if string(task.Input) == "3" && failed.CompareAndSwap(false, true) {
					return processor.Outcome{}, errors.New("three is too much")
				}
				return square(ctx, task)
			}},
		processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
	)
}

// together is a handler that the first so many calls leave together, so that as
// many workers take part.
func together(n int, h processor.Handler) processor.Handler {
	var calls atomic.Int64
	var all sync.WaitGroup
	all.Add(n)
	return func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
		if calls.Add(1) <= int64(n) {
			all.Done()
			all.Wait()
		}
		return h(ctx, task)
	}
}

func TestTrace_OneOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		exporter := tracetest.NewInMemoryExporter()
		o := &processor.Options{TracerProvider: sdk.NewTracerProvider(sdk.WithSyncer(exporter))}
		pl := nested(t, together(2, square))
		p := w.process(o)
		for _, id := range []string{"a", "b"} {
			w.process(o).work(&processor.WorkOptions{ID: id, Slots: 1}, pl)
		}
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, "19")
		synctest.Wait()

		got := spansOf(t, exporter, "r")
		got.wantBelow(t, p.stream("r"))
		if name := got[spanKey{}].Name; name != "start test" || got[spanKey{}].Parent.IsValid() {
			t.Errorf("the trace begins with %q, want start test", name)
		}
		workers := map[string]bool{}
		failures := 0
		for key, span := range got {
			attrs := attribute.NewSet(span.Attributes...)
			worker, _ := attrs.Value("leasestream.worker")
			workers[worker.AsString()] = key.event != ""
			if span.Status.Code == codes.Error {
				outcome, _ := attrs.Value("leasestream.outcome")
				failures++
				if span.Status.Description != "three is too much" || outcome.AsString() != "retry" || key.attempt != 1 {
					t.Errorf("span of %v has status %+v and outcome %q", key, span.Status, outcome.AsString())
				}
			}
		}
		if failures != 1 || !workers["a"] || !workers["b"] {
			t.Errorf("%d spans of failures by workers %v, want 1, by a and b", failures, workers)
		}
	})
}

// below is a context below a span of someone else.
func below(t *testing.T) context.Context {
	return propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{"traceparent": theirs})
}

const theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// Who does not trace passes a trace on all the same.
func TestTrace_PassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var seen atomic.Int64
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if trace.SpanContextFromContext(ctx).SpanID().String() == "b7ad6b7169203331" {
				seen.Add(1)
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		if _, err := p.Start(below(t), pl, []byte("3"), &processor.StartOptions{Name: "r"}); err != nil {
			t.Fatal(err)
		}
		p.await("r")
		if got := p.stream("r").Root().Attr("traceparent"); got != theirs || seen.Load() != 3 {
			t.Errorf("traceparent = %q, seen by %d handlers, want %q by 3", got, seen.Load(), theirs)
		}
	})
}

// The span that a worker itself was started under is none of the runs it serves,
// and neither is what a document has in the place of one.
func TestTrace_NotTheWorkers(t *testing.T) {
	for _, attr := range []string{"", "00-rubbish"} {
		t.Run(attr, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newWorld(t).process(nil)
				valid := make(chan bool, 1)
				pl := pipeline(t, processor.Step{Name: "A", Delay: time.Minute, Handler: func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
					valid <- trace.SpanContextFromContext(ctx).IsValid()
					return processor.Complete(nil), nil
				}})
				p.start(pl, "r", nil)
				_, err := p.scope.Edit(t.Context(), processor.BlobOf("r"), func(s *eventstream.Stream) error {
					return s.Update(s.Root(), "traceparent", attr)
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(below(t))
				var done sync.WaitGroup
				done.Go(func() {
					if err := p.Work(ctx, nil, pl); err != nil {
						t.Errorf("Work() = %v", err)
					}
				})
				if <-valid {
					t.Error("the handler has a span, want none")
				}
				p.await("r")
				stop()
				done.Wait()
			})
		})
	}
}

func TestTrace_OnFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		p := newWorld(t).process(&processor.Options{TracerProvider: sdk.NewTracerProvider(sdk.WithSyncer(exporter))})
		pl := pipeline(t,
			processor.Step{Name: "A", OnFailure: "B", Retry: processor.Retry{Attempts: 2, Backoff: time.Millisecond},
				Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
					// An outcome beside an error is none.
					return processor.Split("B"), errors.New("no")
				}},
			processor.Step{Name: "B", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Abort("not even that"), nil
			}},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Aborted, true, "")
		synctest.Wait()
		got := spansOf(t, exporter, "r")
		got.wantBelow(t, p.stream("r"))
		for key, want := range map[spanKey]string{{"00", 1}: "retry", {"00", 2}: "on_failure", {"01", 1}: "abort"} {
			attrs := attribute.NewSet(got[key].Attributes...)
			if outcome, _ := attrs.Value("leasestream.outcome"); outcome.AsString() != want || got[key].Status.Code != codes.Error {
				t.Errorf("span of %v has outcome %q, status %v, want %s and an error", key, outcome.AsString(), got[key].Status, want)
			}
		}
	})
}

// The branches of a wide split are in child streams, and in the trace all the
// same, below the splitter.
func TestTrace_WideSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		p := newWorld(t).process(&processor.Options{TracerProvider: sdk.NewTracerProvider(sdk.WithSyncer(exporter))})
		pl := squares(t, square)
		p.work(nil, pl)
		p.run(pl, "r", 1001)
		synctest.Wait()
		splitter := spansOf(t, exporter, "r")[spanKey{"00", 1}]
		branches := 0
		for _, span := range exporter.GetSpans() {
			if span.SpanContext.TraceID() != splitter.SpanContext.TraceID() {
				t.Errorf("span %s is in another trace", span.Name)
			}
			if span.Name == "process Square" && span.Parent.SpanID() == splitter.SpanContext.SpanID() {
				branches++
			}
		}
		if branches != 1001 {
			t.Errorf("%d branches are below their splitter, want 1001", branches)
		}
	})
}
