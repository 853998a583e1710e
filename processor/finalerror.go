package processor

import "errors"

// FinalError is a failed attempt after which no other makes sense, whatever the
// step's [Retry] says. Unlike [Abort] it is an attempt all the same: it counts as a
// failure and is kept, with the log of a [LoggedError] in it.
//
// It may be wrapped, as any error of a handler may.
type FinalError struct {
	Err error // what went wrong
}

// Error is what went wrong.
func (e *FinalError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *FinalError) Unwrap() error { return e.Err }

func isFinal(failure error) bool {
	_, ok := errors.AsType[*FinalError](failure)
	return ok
}
