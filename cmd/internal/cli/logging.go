package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
)

// logger logs to w at the level asked for and, with --ship-logs, to the log that
// is kept in the store.
func (a *app) logger(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if a.logLevel.value != "" {
		// The flag takes only what this reads.
		_ = level.UnmarshalText([]byte(a.logLevel.value))
	}
	h := a.logHandler(w, level)
	if log := a.shippedLog(); log != nil {
		h = slog.NewMultiHandler(h, a.shipHandler(log, level))
	}
	return slog.New(telemetry.LogHandler(h))
}

func (a *app) logHandler(w io.Writer, level slog.Level) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if a.logFormat.value == "json" {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// say tells the user something on standard error, line by line, or as one record
// where the log is JSON.
func (a *app) say(w io.Writer, level slog.Level, text string) {
	text = strings.TrimRight(text, "\n")
	if a.logFormat.value == "json" {
		slog.New(slog.NewJSONHandler(w, nil)).Log(context.Background(), level, text)
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "leasestream: %s\n", printable(line))
	}
}
