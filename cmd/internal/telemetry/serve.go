package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// CheckAddress refuses an address that metrics cannot be served on.
func CheckAddress(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("address %q is not HOST:PORT or :PORT", address)
	}
	return nil
}

// onLoopback is an address whose host, if it names none, is this machine's own:
// what is measured is nobody else's business unless someone says so.
func onLoopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// serve serves what the reader that it returns will read.
func (t *Telemetry) serve(ctx context.Context, o *Options) (sdkmetric.Reader, error) {
	registry := prometheus.NewRegistry()
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", onLoopback(o.Metrics))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	ended := make(chan struct{})
	go func() { // until the server is shut down, by Close
		defer close(ended)
		server.Serve(listener)
	}()
	t.closers = append(t.closers, func(ctx context.Context) error {
		defer func() { <-ended }()
		return server.Shutdown(ctx)
	})
	o.Logger.InfoContext(ctx, "metrics are served", "url", "http://"+listener.Addr().String()+"/metrics")
	return reader, nil
}
