package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// flushTime is how long the end of the process waits for what has not been
// exported yet.
const flushTime = 5 * time.Second

// Options of [Start].
type Options struct {
	// Getenv looks up what decides whether anything is exported at all. The SDK
	// reads the rest from the environment of the process.
	Getenv func(string) string
	// Metrics is the address, HOST:PORT, on which metrics are served as Prometheus
	// text under /metrics; "": they are not. Without a HOST it is loopback.
	Metrics string
	// Console is what the exporter of that name writes to. Its own choice, standard
	// output, is for results.
	Console io.Writer
	// Logger is told what cannot be exported.
	Logger *slog.Logger
	// Version of the program, for the resource.
	Version string
}

// Telemetry is what traces and measures, until it is closed.
type Telemetry struct {
	Traces trace.TracerProvider // nil: nothing is traced
	Meters metric.MeterProvider // nil: nothing is measured

	closers []func(context.Context) error
}

// Start begins to export what the environment asks for, and to serve metrics. An
// error means that nothing is.
func Start(ctx context.Context, o *Options) (*Telemetry, error) {
	t := &Telemetry{}
	if err := t.start(ctx, o); err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	return t, nil
}

func (t *Telemetry) start(ctx context.Context, o *Options) error {
	traces, metrics := o.exports("TRACES"), o.exports("METRICS")
	if !traces && !metrics && o.Metrics == "" {
		return nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if !errors.Is(err, context.Canceled) { // Close begins anew with what was under way
			o.Logger.Warn("telemetry was not exported", "err", err)
		}
	}))
	otel.SetLogger(logr.FromSlogHandler(o.Logger.Handler()))
	res, err := o.resource(ctx)
	if err != nil {
		return fmt.Errorf("resource of telemetry: %w", err)
	}
	if traces {
		if err := t.trace(ctx, res, o); err != nil {
			return fmt.Errorf("export traces: %w", err)
		}
	}
	if metrics || o.Metrics != "" {
		return t.measure(ctx, res, metrics, o)
	}
	return nil
}

// exports reports whether the environment asks for the export of a signal.
func (o *Options) exports(signal string) bool {
	if strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := o.Getenv("OTEL_" + signal + "_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return o.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || o.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// resource says who exports. What the environment says of it comes first.
func (o *Options) resource(ctx context.Context) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithProcessPID(),
		resource.WithAttributes(
			semconv.ServiceName("leasestream"),
			semconv.ServiceVersion(o.Version),
			semconv.ServiceInstanceID(uuid.NewString()),
		),
		resource.WithFromEnv(),
	)
}

func (t *Telemetry) trace(ctx context.Context, res *resource.Resource, o *Options) error {
	exporter, err := o.spanExporter(ctx)
	if err != nil {
		return err
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	t.Traces = p
	t.closers = append(t.closers, p.Shutdown)
	return nil
}

func (t *Telemetry) measure(ctx context.Context, res *resource.Resource, export bool, o *Options) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if export {
		reader, err := o.metricReader(ctx)
		if err != nil {
			return fmt.Errorf("export metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	if o.Metrics != "" {
		reader, err := t.serve(ctx, o)
		if err != nil {
			return fmt.Errorf("serve metrics: %w", err)
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	p := sdkmetric.NewMeterProvider(options...)
	t.Meters = p
	t.closers = append(t.closers, p.Shutdown)
	return nil
}

// Close exports what has not been exported, for a few seconds at most, whether
// ctx has ended or not.
func (t *Telemetry) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	var errs []error
	for _, closer := range t.closers {
		errs = append(errs, closer(ctx))
	}
	return errors.Join(errs...)
}
