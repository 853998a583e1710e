package processor

import (
	"errors"
	"fmt"
	"time"
)

// longestRetryAfter bounds the wait that a handler can ask for: no server should
// be able to park a run for good.
const longestRetryAfter = time.Hour

// RetryAfterError is a failed attempt whose handler knows when another one makes
// sense, as a rule because the server that it asked has said so. The next attempt
// waits for After if that is longer than the step's own [Retry] would wait, but
// never longer than an hour. How often the step is tried does not change.
//
// It may be wrapped, as any error of a handler may.
type RetryAfterError struct {
	After time.Duration // from the end of this attempt; 0 and less ask for nothing
	Err   error         // what went wrong
}

// Error has what went wrong and the wait.
func (e *RetryAfterError) Error() string {
	return fmt.Sprintf("%v; asked to try again after %s", e.Err, e.After)
}

// Unwrap returns what went wrong.
func (e *RetryAfterError) Unwrap() error { return e.Err }

// retryAfter is the wait that the error of an attempt asks for, or 0.
func retryAfter(failure error) time.Duration {
	e, ok := errors.AsType[*RetryAfterError](failure)
	if !ok {
		return 0
	}
	return min(e.After, longestRetryAfter)
}
