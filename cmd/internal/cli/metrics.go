package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
)

// address is the value of a flag that takes HOST:PORT.
type address string

func (a *address) String() string { return string(*a) }
func (a *address) Type() string   { return "ADDR" }

func (a *address) Set(text string) error {
	*a = address(text)
	return telemetry.CheckAddress(text)
}

func (a *app) addMetrics(cmd *cobra.Command) {
	cmd.Flags().Var(&a.metrics, "metrics", "serve metrics as Prometheus text on `ADDR`, HOST:PORT, under /metrics; :PORT is on this machine only")
}

// measured runs f while its traces and metrics go where the user wants them. That
// some could not be exported is said, but is no fault of what was measured.
func (a *app) measured(ctx context.Context, logs io.Writer, f func() error) error {
	log := a.logger(logs)
	t, err := telemetry.Start(ctx, &telemetry.Options{
		Getenv: a.getenv, Metrics: string(a.metrics), Console: a.stderr, Logger: log, Version: version(),
	})
	if err != nil {
		return err
	}
	a.telemetry = *t
	err = f()
	a.telemetry = telemetry.Telemetry{}
	if lost := t.Close(ctx); lost != nil {
		log.WarnContext(ctx, "telemetry was not exported", "err", lost)
	}
	return err
}
