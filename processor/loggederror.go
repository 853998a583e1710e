package processor

import (
	"context"
	"errors"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// LoggedError is a failed attempt with its log, as a rule what its program wrote
// to stderr. The log is kept in a blob of its own as long as the run, and the
// attempt refers to it: see eventstream.Attempt. If it cannot be written, the
// attempt counts without it.
//
// It may be wrapped, as any error of a handler may.
type LoggedError struct {
	Log []byte
	Err error // what went wrong
}

// Error is what went wrong.
func (e *LoggedError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *LoggedError) Unwrap() error { return e.Err }

// logTimeout bounds how long a log is tried to be written: the outcome waits.
const logTimeout = 10 * time.Second

// keepLog writes the log of a failed attempt, if it has one.
func (w *worker) keepLog(ctx context.Context, cl *claim, failure error) *eventstream.Payload {
	e, ok := errors.AsType[*LoggedError](failure)
	if !ok || len(e.Log) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	pw := &payloads{p: w.p, run: cl.run, event: cl.event}
	payload, err := pw.write(ctx, "log", "text/plain; charset=utf-8", e.Log)
	if err != nil {
		w.logOf(cl).WarnContext(ctx, "log of a failed attempt was not kept", "err", err)
		return nil
	}
	return payload
}
