package processor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// BenchmarkTelemetry measures runs of 500 branches in memory, without traces and
// metrics and with them, which nobody takes away: what the measuring costs.
func BenchmarkTelemetry(b *testing.B) {
	b.Run("off", func(b *testing.B) { benchRuns(b, nil, nil) })
	b.Run("on", func(b *testing.B) {
		meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
		benchRuns(b, &scope.Options{MeterProvider: meters},
			&processor.Options{MeterProvider: meters, TracerProvider: sdktrace.NewTracerProvider()})
	})
}

func benchRuns(b *testing.B, so *scope.Options, po *processor.Options) {
	const branches = 500
	st := memstore.New(nil)
	if err := st.Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	sc := scope.New(st, so)
	defer sc.Close()
	p := processor.New(sc, po)
	pl, err := processor.NewPipeline("test", nil,
		processor.Step{Name: "Split", Handler: splitNumbers},
		processor.Step{Name: "Square", Handler: square},
		processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		if err := p.Work(ctx, nil, pl); err != nil {
			b.Errorf("Work() = %v", err)
		}
	})
	defer worker.Wait()
	defer stop()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		run, err := p.Start(ctx, pl, json.RawMessage(fmt.Sprint(branches)), &processor.StartOptions{Name: fmt.Sprint("r", n)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Await(ctx, run.Name, nil); err != nil {
			b.Fatal(err)
		}
	}
}
