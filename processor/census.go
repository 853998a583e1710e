package processor

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/leasestream/leasestream/eventstream"
)

// census counts what is open in the container, for the metrics of the one worker
// that sweeps. When another one takes over, it shows nothing more, so that the
// sum over all workers is right.
type census struct {
	m      *meters // nil: nobody wants to know
	began  time.Time
	runs   map[string]int64
	events map[openEvents]int64
}

// openEvents are those of a pipeline that are in one state: of a step, or, where
// they wait, of any.
type openEvents struct{ pipeline, step, state string }

// States of open events.
const (
	stateReady   = "ready"   // can be claimed
	stateRunning = "running" // a worker handles them
	stateWaiting = "waiting" // for their branches, their time, or someone outside
)

func newCensus(m *meters) *census {
	return &census{m: m, runs: map[string]int64{}, events: map[openEvents]int64{}}
}

// begin starts to count anew, and returns notice so that what it is told of is
// counted. What was counted before stays, as none.
func (c *census) begin(notice func(string, eventstream.Summary)) func(string, eventstream.Summary) {
	if c.m == nil {
		return notice
	}
	c.began = time.Now()
	c.zero()
	return func(doc string, s eventstream.Summary) {
		c.count(doc, s)
		notice(doc, s)
	}
}

func (c *census) zero() {
	for key := range c.runs {
		c.runs[key] = 0
	}
	for key := range c.events {
		c.events[key] = 0
	}
}

// count counts a document that is open. Child streams are no runs.
func (c *census) count(doc string, s eventstream.Summary) {
	if s.Status.Final() {
		return
	}
	if doc == runNameOf(doc) {
		c.runs[s.Pipeline]++
	}
	waiting := s.Total - s.Done
	for state, steps := range map[string]map[string]int{stateReady: s.Ready, stateRunning: s.Running} {
		for step, n := range steps {
			c.events[openEvents{s.Pipeline, step, state}] += int64(n)
			waiting -= n
		}
	}
	c.events[openEvents{s.Pipeline, "", stateWaiting}] += int64(waiting)
}

// end tells what was counted; nothing of a sweep that did not see all.
func (c *census) end(ctx context.Context, err error) {
	if c.m == nil {
		return
	}
	c.m.sweep.Record(ctx, time.Since(c.began).Seconds())
	if err == nil {
		c.tell(ctx)
	}
}

// leave is for a worker that sweeps no more.
func (c *census) leave(ctx context.Context) {
	if c.m != nil {
		c.zero()
		c.tell(context.WithoutCancel(ctx))
	}
}

func (c *census) tell(ctx context.Context) {
	for pipeline, n := range c.runs {
		c.m.openRuns.Record(ctx, n, metric.WithAttributes(keyPipeline.String(pipeline)))
	}
	for key, n := range c.events {
		c.m.openEvents.Record(ctx, n, metric.WithAttributes(key.attributes()...))
	}
}

func (k openEvents) attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{keyPipeline.String(k.pipeline), keyState.String(k.state)}
	if k.step != "" {
		attrs = append(attrs, keyStep.String(k.step))
	}
	return attrs
}
