package scope_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
)

// measured is what a reader has collected: metrics by name, as text.
func measured(t *testing.T, r sdk.Reader) map[string]string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, of := range all.ScopeMetrics {
		for _, m := range of.Metrics {
			got[m.Name] = shownMetric(t, m)
		}
	}
	return got
}

func shownMetric(t *testing.T, m metricdata.Metrics) string {
	t.Helper()
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return fmt.Sprint(data.DataPoints[0].Value, " ", m.Unit)
	case metricdata.Histogram[int64]:
		return fmt.Sprint(data.DataPoints[0].Count, " of ", data.DataPoints[0].Sum, " ", m.Unit)
	case metricdata.Histogram[float64]:
		return fmt.Sprint(data.DataPoints[0].Count, " of ", data.DataPoints[0].Sum, " ", m.Unit)
	}
	t.Fatalf("metric %s is %T", m.Name, m.Data)
	return ""
}

func TestScope_Metrics(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		reader := sdk.NewManualReader()
		s := w.newScope(&scope.Options{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader)), Linger: time.Second})
		l := hold(t, s, nil) // for 12 s, with two renewals, while two edits wait
		for _, key := range []string{"a", "b"} {
			go s.Edit(t.Context(), blob, func(s *eventstream.Stream) error {
				return s.SetAttrs(key, "1")
			})
		}
		time.Sleep(12 * time.Second)
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		lost := hold(t, s, nil) // and lost after 3 s
		time.Sleep(3 * time.Second)
		w.breakLease()
		time.Sleep(5 * time.Second)
		if lost.Err() == nil {
			t.Fatal("the lease was not lost")
		}
		synctest.Wait()

		got, stats := measured(t, reader), s.Stats()
		want := map[string]string{
			"edits": "2 {edit}", "commits": "1 {upload}", "reads": "1 {download}", "lost": "1 {lease}", // ahead: it stayed like that
			"acquires": fmt.Sprint(stats.Acquires, " {request}"), "refused": fmt.Sprint(stats.Refused, " {request}"),
			"renewals": fmt.Sprint(stats.Renewals, " {request}"), "reruns": "0 {batch}", "bypassed": "0 {upload}",
			"unknown": "0 {upload}", "unsettled": "0 {upload}", "batch": "1 of 2 {edit}",
			"acquire.polls": "3 of …", "acquire.wait": "3 of 12.0…", "hold": "3 of 18…",
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			begin, open := strings.CutSuffix(want[name], "…")
			if g := got["leasestream.scope."+name]; g != want[name] && !(open && strings.HasPrefix(g, begin)) {
				t.Errorf("leasestream.scope.%s = %q, want %q", name, g, want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d metrics, want %d: %v", len(got), len(want), got)
		}
	})
}
