package cli

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// shippedSize is how much of a worker's log is kept in the store, in bytes.
const shippedSize = 256 << 10

func (a *app) addShipLogs(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.shipLogs, "ship-logs", false, "keep the end of the log in the store, and the standard error of attempts that fail")
}

// shippedLog is the log that is kept in the store; nil if none is.
func (a *app) shippedLog() *processor.Tail {
	if a.shipLogs && a.shipped == nil {
		a.shipped = processor.NewTail(shippedSize)
	}
	return a.shipped
}

// shipHandler writes to the log in the store what an operator would look for
// there, whatever is shown here: what programs say is logged as info.
func (a *app) shipHandler(log *processor.Tail, level slog.Level) slog.Handler {
	return a.logHandler(&errorWriter{w: log, redact: a.redact}, min(level, slog.LevelInfo))
}
