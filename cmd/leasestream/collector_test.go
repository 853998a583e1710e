package main

import (
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives what processes export by OTLP over HTTP.
type collector struct {
	t   *testing.T
	url string

	mu      sync.Mutex // guards the fields below
	spans   []*tracev1.Span
	metrics map[series]point // the newest, as all are cumulative
	kinds   map[string]string
	changed chan struct{} // closed at the next export of metrics
}

// series is one line of measurements of one process.
type series struct{ process, metric, attributes string }

// point is the value of a counter or gauge, or the count of a histogram.
type point struct {
	value int64
	attrs map[string]string
}

func newCollector(t *testing.T) *collector {
	c := &collector{t: t, metrics: map[series]point{}, kinds: map[string]string{}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(_ http.ResponseWriter, r *http.Request) {
		var m tracepb.ExportTraceServiceRequest
		c.decode(r, &m)
		c.addSpans(&m)
	})
	mux.HandleFunc("POST /v1/metrics", func(_ http.ResponseWriter, r *http.Request) {
		var m metricspb.ExportMetricsServiceRequest
		c.decode(r, &m)
		c.addMetrics(&m)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *collector) decode(r *http.Request, m proto.Message) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			c.t.Errorf("%s: %v", r.URL, err)
			return
		}
		body = unzipped
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(data, m)
	}
	if err != nil {
		c.t.Errorf("%s: %v", r.URL, err)
	}
}

func (c *collector) addSpans(m *tracepb.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range m.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

func (c *collector) addMetrics(m *metricspb.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range m.ResourceMetrics {
		process := attributesOf(of.Resource.Attributes)["service.instance.id"]
		for _, scope := range of.ScopeMetrics {
			for _, metric := range scope.Metrics {
				c.addMetric(process, metric)
			}
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until a metric has a value.
func (c *collector) await(metric string, attrs map[string]string, value int64) {
	c.t.Helper()
	late := time.After(time.Minute)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if c.sum(metric, attrs) == value {
			return
		}
		select {
		case <-changed:
		case <-late:
			c.t.Fatalf("%s %v = %d after a minute, want %d", metric, attrs, c.sum(metric, attrs), value)
		}
	}
}

func (c *collector) addMetric(process string, m *metricsv1.Metric) {
	add := func(kind string, attributes []*commonv1.KeyValue, value int64) {
		c.kinds[m.Name] = kind + " " + m.Unit
		attrs := attributesOf(attributes)
		c.metrics[series{process, m.Name, sortedText(attrs)}] = point{value, attrs}
	}
	switch data := m.Data.(type) {
	case *metricsv1.Metric_Sum:
		for _, p := range data.Sum.DataPoints {
			add("counter", p.Attributes, p.GetAsInt())
		}
	case *metricsv1.Metric_Gauge:
		for _, p := range data.Gauge.DataPoints {
			add("gauge", p.Attributes, p.GetAsInt())
		}
	case *metricsv1.Metric_Histogram:
		for _, p := range data.Histogram.DataPoints {
			add("histogram", p.Attributes, int64(p.Count))
		}
	default:
		c.t.Errorf("metric %s is %T", m.Name, m.Data)
	}
}

// attributesOf gives attributes as text.
func attributesOf(list []*commonv1.KeyValue) map[string]string {
	attrs := map[string]string{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *commonv1.AnyValue_StringValue:
			attrs[a.Key] = v.StringValue
		case *commonv1.AnyValue_IntValue:
			attrs[a.Key] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return attrs
}

func sortedText(attrs map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		text.WriteString(name + "=" + attrs[name] + ",")
	}
	return text.String()
}

// sum adds up a metric over processes and over series that have the attributes.
func (c *collector) sum(metric string, attrs map[string]string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var total int64
	for s, p := range c.metrics {
		if s.metric == metric && hasAll(p.attrs, attrs) {
			total += p.value
		}
	}
	return total
}

func hasAll(attrs, want map[string]string) bool {
	for name, value := range want {
		if attrs[name] != value {
			return false
		}
	}
	return true
}
