package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// Exit codes.
const (
	codeOK          = 0
	codeError       = 1
	codeUsage       = 2
	codeWithError   = 3
	codeAborted     = 4
	codeCanceled    = 5
	codeInterrupted = 130
)

// exitError is an error with an exit code of its own; without an err there is
// nothing left to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is an error of the command line: nothing was done.
func usagef(format string, args ...any) error {
	return &exitError{codeUsage, fmt.Errorf(format, args...)}
}

// endError is how a run ended, as an exit code; nil for a run that completed.
func endError(end *processor.End) error {
	switch {
	case end.Status == eventstream.Aborted:
		return &exitError{codeAborted, endReason(end)}
	case end.Status == eventstream.Canceled:
		return &exitError{codeCanceled, endReason(end)}
	case end.WithError:
		return &exitError{codeWithError, fmt.Errorf(
			"run %q completed with errors; see leasestream show %s", end.Name, end.Name)}
	}
	return nil
}

func endReason(end *processor.End) error {
	if end.Msg == "" {
		return fmt.Errorf("run %q was %v", end.Name, end.Status)
	}
	return fmt.Errorf("run %q was %v: %s", end.Name, end.Status, end.Msg)
}

// report says what went wrong, if anything did, and gives the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return codeOK
	}
	exit, ok := errors.AsType[*exitError](err)
	switch {
	case ok:
	case !a.running:
		exit = &exitError{codeUsage, err}
	case ctx.Err() != nil:
		exit = &exitError{codeInterrupted, fmt.Errorf("interrupted: %w", err)}
	default:
		exit = &exitError{codeError, err}
	}
	if exit.err != nil {
		a.complain(exit.err)
	}
	return exit.code
}

// complain tells of an error, with what to do about it.
func (a *app) complain(err error) {
	text := err.Error()
	if hint := hintFor(err); hint != "" {
		text += "; " + hint
	}
	a.say(a.stderr, slog.LevelError, text)
}
