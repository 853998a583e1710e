package processor

import "log/slog"

// Logger is l with the attributes of the task: stream, event, step, attempt and
// worker. Whatever is logged about an attempt carries them.
func (t *Task) Logger(l *slog.Logger) *slog.Logger {
	return l.With("stream", t.Stream, "event", t.Event, "step", t.Step, "attempt", t.Attempt, "worker", t.Worker)
}

// logOf is for what happens to a claim.
func (w *worker) logOf(cl *claim) *slog.Logger { return cl.task.Logger(w.p.log) }
