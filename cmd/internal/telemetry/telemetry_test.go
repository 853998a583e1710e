package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
)

// environment is what Getenv looks up in; what the SDK reads itself is set as
// well.
func environment(t *testing.T, variables map[string]string) func(string) string {
	for name, value := range variables {
		t.Setenv(name, value)
	}
	return func(name string) string { return variables[name] }
}

func TestStart_WhatIsOn(t *testing.T) {
	const nowhere = "http://127.0.0.1:1"
	for _, c := range []struct {
		name            string
		variables       map[string]string
		traces, metrics bool
	}{
		{"nothing is set", nil, false, false},
		{"an endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": nowhere}, true, true},
		{"an endpoint for traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": nowhere}, true, false},
		{"an endpoint for metrics", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": nowhere}, false, true},
		{"exporters", map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"}, true, true},
		{"no metrics", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": nowhere, "OTEL_METRICS_EXPORTER": "none"}, true, false},
		{"disabled", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": nowhere, "OTEL_SDK_DISABLED": "true"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &telemetry.Options{Getenv: environment(t, c.variables), Console: io.Discard, Logger: slog.New(slog.DiscardHandler)}
			got, err := telemetry.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			defer got.Close(ended) // there is nobody to take it
			if (got.Traces != nil) != c.traces || (got.Meters != nil) != c.metrics {
				t.Errorf("Start() traces: %t, measures: %t, want %t, %t", got.Traces != nil, got.Meters != nil, c.traces, c.metrics)
			}
		})
	}
}

func TestStart_Refuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		variables map[string]string
		metrics   string
		want      string
	}{
		{map[string]string{"OTEL_TRACES_EXPORTER": "pigeon"}, "", `export traces: `},
		{map[string]string{"OTEL_METRICS_EXPORTER": "pigeon"}, "", `export metrics: `},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "pigeon"}, "", `export traces: `},
		{nil, taken.Addr().String(), `serve metrics: `},
	} {
		o := &telemetry.Options{Getenv: environment(t, c.variables), Metrics: c.metrics, Logger: slog.New(slog.DiscardHandler)}
		got, err := telemetry.Start(t.Context(), o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Start(%v, %q) = %v, %v, want error %q", c.variables, c.metrics, got, err, c.want)
		}
	}
}

func TestStart_Console(t *testing.T) {
	var console bytes.Buffer
	o := &telemetry.Options{
		Getenv:  environment(t, map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console", "OTEL_SERVICE_NAME": "ours"}),
		Console: &console, Logger: slog.New(slog.DiscardHandler), Version: "v1.2.3",
	}
	tel, err := telemetry.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.Traces.Tracer("t").Start(t.Context(), "a span")
	span.End()
	count(t, tel, "some.edits")
	if err := tel.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	for _, want := range []string{`"a span"`, `"some.edits"`, `"ours"`, `"v1.2.3"`, `service.instance.id`} {
		if !strings.Contains(console.String(), want) {
			t.Errorf("console has %s, want %s in it", console.String(), want)
		}
	}
}

func count(t *testing.T, tel *telemetry.Telemetry, name string) {
	t.Helper()
	c, err := tel.Meters.Meter("t").Int64Counter(name)
	if err != nil {
		t.Fatal(err)
	}
	c.Add(t.Context(), 7)
}

func TestStart_ServesMetrics(t *testing.T) {
	var log bytes.Buffer
	o := &telemetry.Options{Getenv: environment(t, nil), Metrics: ":0", Logger: slog.New(slog.NewJSONHandler(&log, nil))}
	tel, err := telemetry.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	count(t, tel, "some.edits")
	var line struct{ URL string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || !strings.HasPrefix(line.URL, "http://127.0.0.1:") {
		t.Fatalf("log has %s (%v), want an address of this machine only", log.String(), err)
	}
	res, err := http.Get(line.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), "some_edits_total{") || !strings.Contains(string(body), "} 7\n") {
		t.Errorf("GET %s = %d, %s, %v, want some_edits_total 7", line.URL, res.StatusCode, body, err)
	}
	if err := tel.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if res, err := http.Get(line.URL); err == nil {
		res.Body.Close()
		t.Error("metrics are served after Close")
	}
}

func TestCheckAddress(t *testing.T) {
	for address, ok := range map[string]bool{":9464": true, "localhost:9464": true, "[::1]:9464": true, "9464": false, "": false, "a:b:c": false} {
		if err := telemetry.CheckAddress(address); (err == nil) != ok {
			t.Errorf("CheckAddress(%q) = %v, want ok: %t", address, err, ok)
		}
	}
}

func TestLogHandler(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	for _, c := range []struct{ parent, want string }{
		{parent + "01", `{"level":"INFO","msg":"m","a":1,"g":{"b":2,"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331"}}`},
		{parent + "00", `{"level":"INFO","msg":"m","a":1,"g":{"b":2}}`},
		{"", `{"level":"INFO","msg":"m","a":1,"g":{"b":2}}`},
	} {
		var got bytes.Buffer
		noTime := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		log := slog.New(telemetry.LogHandler(slog.NewJSONHandler(&got, &slog.HandlerOptions{ReplaceAttr: noTime})))
		ctx := telemetry.WithParent(t.Context(), func(name string) string {
			return map[string]string{"TRACEPARENT": c.parent}[name]
		})
		log.With("a", 1).WithGroup("g").InfoContext(ctx, "m", "b", 2)
		if got.String() != c.want+"\n" {
			t.Errorf("below %q, log has %s, want %s", c.parent, got.String(), c.want)
		}
	}
}

func TestWithParent_Nothing(t *testing.T) {
	ctx := telemetry.WithParent(t.Context(), func(string) string { return "rubbish" })
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		t.Errorf("WithParent(rubbish) has span %v, want none", span.SpanID())
	}
}
