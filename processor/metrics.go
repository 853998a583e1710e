package processor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instrumentation names this package to OpenTelemetry.
const instrumentation = "github.com/leasestream/leasestream/processor"

// What spans and metrics are marked with. Streams, runs and events are for spans
// only: there are too many of them for a metric.
const (
	keyPipeline = attribute.Key("leasestream.pipeline")
	keyStep     = attribute.Key("leasestream.step")
	keyOutcome  = attribute.Key("leasestream.outcome")
	keyCause    = attribute.Key("leasestream.cause")
	keyState    = attribute.Key("leasestream.state")
	keyStream   = attribute.Key("leasestream.stream")
	keyRun      = attribute.Key("leasestream.run")
	keyEvent    = attribute.Key("leasestream.event")
	keyAttempt  = attribute.Key("leasestream.attempt")
	keyWorker   = attribute.Key("leasestream.worker")
)

// secondBounds are the upper bounds of the buckets of durations.
var secondBounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

// meters are the metrics of a processor. A nil one takes everything and tells
// nobody.
type meters struct {
	claims, outcomes, retries metric.Int64Counter
	attempt, sweep            metric.Float64Histogram
	openRuns, openEvents      metric.Int64Gauge
}

// newMeters makes the instruments. A provider that refuses one gives one that
// does nothing in its place, so an error is no reason not to work.
func newMeters(p metric.MeterProvider, log *slog.Logger) *meters {
	if p == nil {
		return nil
	}
	i := instruments{meter: p.Meter(instrumentation)}
	m := &meters{
		claims:     i.counter("claims", "{event}", "Events claimed."),
		outcomes:   i.counter("outcomes", "{attempt}", "Attempts that ended, by outcome."),
		retries:    i.counter("retries", "{attempt}", "Attempts that failed and are to be repeated, by cause."),
		attempt:    i.seconds("attempt.duration", "How long an attempt took, until its outcome was written."),
		sweep:      i.seconds("sweep.duration", "How long a sweep over all open runs took."),
		openRuns:   i.gauge("open_runs", "{run}", "Runs that have not ended, as this worker's last sweep saw them."),
		openEvents: i.gauge("open_events", "{event}", "Events that have not ended, as this worker's last sweep saw them, by state."),
	}
	if err := errors.Join(i.errs...); err != nil {
		log.Warn("some metrics will be missing", "err", err)
	}
	return m
}

// instruments makes instruments and gathers what goes wrong.
type instruments struct {
	meter metric.Meter
	errs  []error
}

const metricPrefix = "leasestream.processor."

func (i *instruments) counter(name, unit, description string) metric.Int64Counter {
	c, err := i.meter.Int64Counter(metricPrefix+name, metric.WithUnit(unit), metric.WithDescription(description))
	i.errs = append(i.errs, err)
	return c
}

func (i *instruments) gauge(name, unit, description string) metric.Int64Gauge {
	g, err := i.meter.Int64Gauge(metricPrefix+name, metric.WithUnit(unit), metric.WithDescription(description))
	i.errs = append(i.errs, err)
	return g
}

func (i *instruments) seconds(name, description string) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(metricPrefix+name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(secondBounds...))
	i.errs = append(i.errs, err)
	return h
}

func (m *meters) claimed(ctx context.Context, cl *claim) {
	if m != nil {
		m.claims.Add(ctx, 1, metric.WithAttributes(cl.where()...))
	}
}

func (m *meters) ended(ctx context.Context, cl *claim, took time.Duration) {
	if m == nil {
		return
	}
	how := metric.WithAttributes(append(cl.where(), keyOutcome.String(cl.ended.outcome))...)
	m.outcomes.Add(ctx, 1, how)
	m.attempt.Record(ctx, took.Seconds(), how)
	if cl.ended.outcome == endedRetry {
		m.retries.Add(ctx, 1, metric.WithAttributes(append(cl.where(), keyCause.String(cl.ended.cause()))...))
	}
}

// where a claim is: the attributes of all that is measured of it.
func (cl *claim) where() []attribute.KeyValue {
	return []attribute.KeyValue{keyPipeline.String(cl.pipeline.Name()), keyStep.String(cl.step.Name)}
}

// swept is an event that a sweep put back to be repeated.
type swept struct{ pipeline, step, cause string }

func (m *meters) gaveBack(ctx context.Context, events []swept) {
	if m == nil {
		return
	}
	for _, e := range events {
		m.retries.Add(ctx, 1, metric.WithAttributes(
			keyPipeline.String(e.pipeline), keyStep.String(e.step), keyCause.String(e.cause)))
	}
}
