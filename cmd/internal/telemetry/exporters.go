package telemetry

import (
	"context"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// console is the exporter that writes where people look.
const console = "console"

func (o *Options) spanExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	if o.Getenv("OTEL_TRACES_EXPORTER") == console {
		return stdouttrace.New(stdouttrace.WithWriter(o.Console))
	}
	return autoexport.NewSpanExporter(ctx)
}

func (o *Options) metricReader(ctx context.Context) (sdkmetric.Reader, error) {
	if o.Getenv("OTEL_METRICS_EXPORTER") != console {
		return autoexport.NewMetricReader(ctx)
	}
	exporter, err := stdoutmetric.New(stdoutmetric.WithWriter(o.Console))
	if err != nil {
		return nil, err
	}
	return sdkmetric.NewPeriodicReader(exporter), nil
}
