package scope

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// instrumentation names this package to OpenTelemetry.
const instrumentation = "github.com/leasestream/leasestream/scope"

var (
	// countBounds and secondBounds are the upper bounds of the buckets of
	// histograms. Those of seconds begin where an edit of a local store does, and
	// end where leases do that are held for long.
	countBounds  = []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}
	secondBounds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 3600}
)

// counter counts for Stats, and for a meter if there is one.
type counter struct {
	n      atomic.Int64
	metric metric.Int64Counter // nil: there is no meter
}

func (c *counter) Add(n int64) {
	c.n.Add(n)
	if c.metric != nil {
		c.metric.Add(context.Background(), n)
	}
}

func (c *counter) Load() int64 { return c.n.Load() }

// histograms are what a meter is told besides the counts. The zero value tells
// nobody.
type histograms struct {
	batch, polls metric.Int64Histogram
	wait, hold   metric.Float64Histogram
}

func (h *histograms) committed(edits int) {
	if h.batch != nil {
		h.batch.Record(context.Background(), int64(edits))
	}
}

func (h *histograms) acquired(polls int, waited time.Duration) {
	if h.polls != nil {
		h.polls.Record(context.Background(), int64(polls))
		h.wait.Record(context.Background(), waited.Seconds())
	}
}

func (h *histograms) ended(since, now instant) {
	if h.hold != nil {
		h.hold.Record(context.Background(), (now.mono - since.mono).Seconds())
	}
}

// meter makes the instruments. A meter that refuses one gives one that does
// nothing in its place, so an error is no reason not to work.
func (s *Scope) meter(p metric.MeterProvider, log *slog.Logger) {
	if p == nil {
		return
	}
	i := instruments{meter: p.Meter(instrumentation)}
	c := &s.stats
	i.count(&c.edits, "edits", "{edit}", "Edits that were applied and written.")
	i.count(&c.commits, "commits", "{upload}", "Uploads that held them.")
	i.count(&c.reads, "reads", "{download}", "Documents downloaded for edits.")
	i.count(&c.acquires, "acquires", "{request}", "Requests for a lease.")
	i.count(&c.refused, "refused", "{request}", "Requests for a lease that found it held.")
	i.count(&c.renewals, "renewals", "{request}", "Requests to renew a lease.")
	i.count(&c.lost, "lost", "{lease}", "Leases lost.")
	i.count(&c.reruns, "reruns", "{batch}", "Batches of edits that were run again.")
	i.count(&c.bypassed, "bypassed", "{upload}", "Uploads refused because someone wrote without our lease.")
	i.count(&c.unknown, "unknown", "{upload}", "Uploads that were not answered, or refused as too many.")
	i.count(&c.unsettled, "unsettled", "{upload}", "Uploads of which it stayed unknown what became of them.")
	s.told = histograms{
		batch: i.counts("batch", "{edit}", "Edits that one upload held."),
		polls: i.counts("acquire.polls", "{poll}", "How often a lease was asked for or looked at until it was ours."),
		wait:  i.seconds("acquire.wait", "How long it took to get a lease."),
		hold:  i.seconds("hold", "How long a lease was held."),
	}
	if err := errors.Join(i.errs...); err != nil {
		log.Warn("some metrics will be missing", "err", err)
	}
}

// instruments makes instruments and gathers what goes wrong.
type instruments struct {
	meter metric.Meter
	errs  []error
}

const metricPrefix = "leasestream.scope."

// count gives a counter its metric, which shows 0 until something happens: a
// metric that is missing could not be told from one that is zero.
func (i *instruments) count(c *counter, name, unit, description string) {
	var err error
	c.metric, err = i.meter.Int64Counter(metricPrefix+name, metric.WithUnit(unit), metric.WithDescription(description))
	i.errs = append(i.errs, err)
	c.Add(0)
}

func (i *instruments) counts(name, unit, description string) metric.Int64Histogram {
	h, err := i.meter.Int64Histogram(metricPrefix+name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(countBounds...))
	i.errs = append(i.errs, err)
	return h
}

func (i *instruments) seconds(name, description string) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(metricPrefix+name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(secondBounds...))
	i.errs = append(i.errs, err)
	return h
}
