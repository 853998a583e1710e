package cli

import (
	"io"
	"log/slog"
)

// logger logs to w at the level asked for.
func (a *app) logger(w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if a.logLevel.value != "" {
		// The flag takes only what this reads.
		_ = level.UnmarshalText([]byte(a.logLevel.value))
	}
	o := &slog.HandlerOptions{Level: level}
	if a.logFormat.value == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
