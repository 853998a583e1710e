package processor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leasestream/leasestream/processor"
)

// measured is what a reader has collected: one line for each metric and set of
// attributes. Of durations it has the count alone.
func measured(t *testing.T, r sdk.Reader) string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, of := range all.ScopeMetrics {
		for _, m := range of.Metrics {
			for set, value := range points(t, m.Data) {
				name := strings.TrimPrefix(m.Name, "leasestream.processor.")
				attrs := strings.ReplaceAll(set.Encoded(attribute.DefaultEncoder()), "leasestream.", "")
				lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %d %s", name, value, attrs), " ")+"\n")
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func points(t *testing.T, data metricdata.Aggregation) map[attribute.Set]int64 {
	t.Helper()
	got := map[attribute.Set]int64{}
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			got[p.Attributes] = p.Value
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			got[p.Attributes] = p.Value
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			got[p.Attributes] = int64(p.Count)
		}
	default:
		t.Fatalf("metric of type %T", data)
	}
	return got
}

// wantMeasured compares all but what depends on when a sweep came.
func wantMeasured(t *testing.T, r sdk.Reader, want string) {
	t.Helper()
	var got strings.Builder
	sweeps := 0
	for line := range strings.Lines(measured(t, r)) {
		switch {
		case strings.HasPrefix(line, "sweep.duration "):
			sweeps++
		case !strings.HasPrefix(line, "open_"):
			got.WriteString(line)
		}
	}
	if got.String() != want || sweeps != 1 {
		t.Errorf("metrics are\n%s, want\n%s; %d of sweeps, want 1", got.String(), want, sweeps)
	}
}

func TestMetrics_OfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdk.NewManualReader()
		p := newWorld(t).process(&processor.Options{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		pl := nested(t, square)
		p.work(nil, pl)
		p.run(pl, "r", nil)
		time.Sleep(10 * time.Second)
		wantMeasured(t, reader, `attempt.duration 1 outcome=retry,pipeline=test,step=Square
attempt.duration 1 outcome=split,pipeline=test,step=Outer
attempt.duration 2 outcome=split,pipeline=test,step=Split
attempt.duration 3 outcome=complete,pipeline=test,step=Sum
attempt.duration 5 outcome=complete,pipeline=test,step=Square
claims 1 pipeline=test,step=Outer
claims 2 pipeline=test,step=Split
claims 3 pipeline=test,step=Sum
claims 6 pipeline=test,step=Square
outcomes 1 outcome=retry,pipeline=test,step=Square
outcomes 1 outcome=split,pipeline=test,step=Outer
outcomes 2 outcome=split,pipeline=test,step=Split
outcomes 3 outcome=complete,pipeline=test,step=Sum
outcomes 5 outcome=complete,pipeline=test,step=Square
retries 1 cause=error,pipeline=test,step=Square
`)
	})
}

// What is open is told by the one worker that sweeps, and by none when it leaves.
func TestMetrics_WhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdk.NewManualReader()
		w := newWorld(t)
		p := w.process(&processor.Options{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		release := make(chan struct{})
		pl := squares(t, func(context.Context, *processor.Task) (processor.Outcome, error) {
			<-release
			return processor.Complete(1), nil
		})
		p.work(&processor.WorkOptions{Slots: 2}, pl)
		p.start(pl, "r", 5)
		time.Sleep(10 * time.Second)
		open := `open_events 1 pipeline=test,state=waiting
open_events 2 pipeline=test,state=running,step=Square
open_events 3 pipeline=test,state=ready,step=Square
open_runs 1 pipeline=test
`
		if got := measured(t, reader); !strings.Contains(got, open) {
			t.Errorf("metrics are\n%s, want in them\n%s", got, open)
		}
		close(release)
		p.await("r")
		p.end()
		for line := range strings.Lines(measured(t, reader)) {
			if strings.HasPrefix(line, "open_") && strings.Fields(line)[1] != "0" {
				t.Errorf("metrics have %s after the worker has left", line)
			}
		}
	})
}

// A sweep tells what it puts back, and why.
func TestMetrics_RetriesOfASweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdk.NewManualReader()
		w := newWorld(t)
		once := func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Attempt == 1 {
				return processor.Wait(time.Minute), nil
			}
			return processor.Complete(1), nil
		}
		hang := squares(t, func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			return processor.Complete(0), nil
		})
		w.process(nil).start(hang, "r", 3)
		cut := cutOff(w, hang)
		time.Sleep(time.Second)
		cut()
		p := w.process(&processor.Options{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		pl := squares(t, once)
		p.work(nil, pl)
		p.run(pl, "s", 2)
		p.await("r")
		synctest.Wait() // the sweep may be ahead of its own count
		var got []string
		for line := range strings.Lines(measured(t, reader)) {
			if strings.HasPrefix(line, "retries ") {
				got = append(got, line)
			}
		}
		want := []string{"retries 2 cause=timeout,pipeline=test,step=Square\n", "retries 3 cause=worker,pipeline=test,step=Square\n"}
		if !slices.Equal(got, want) {
			t.Errorf("metrics are %q, want %q", got, want)
		}
	})
}
