package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

const (
	// patience is how long a lock of the file is waited for: much longer than any
	// write takes. A process that is stopped in the middle of one keeps all others
	// from theirs.
	patience = 30 * time.Second
	// longLock is when a lock is worth naming as the reason why a wait came to nothing.
	longLock = time.Second
)

// locked is the error of a request that did nothing, since the file at path has been
// locked since a time. ended is the error of the caller's context; nil if that goes on.
func locked(path string, since time.Time, ended error) error {
	return &store.Error{Sentinel: store.ErrStoreLocked, Detail: lockText(path, time.Since(since)), Err: ended}
}

// lockText says who keeps the file locked, and what to do about it.
func lockText(path string, d time.Duration) string {
	lasts := fmt.Sprintf("has kept %s locked for %v", path, d.Round(time.Second))
	switch c := findCulprit(path); {
	case c == nil:
		return "another process " + lasts + ": look for one that has the file open and is stopped or hangs, and let it go on or end it"
	case c.stopped:
		return fmt.Sprintf("process %d (%s), which is stopped, %s: let it go on with kill -CONT %d, or end it", c.pid, c.program, lasts, c.pid)
	default:
		return fmt.Sprintf("process %d (%s) %s: end it if it hangs", c.pid, c.program, lasts)
	}
}

// culprit is the process that has the write lock.
type culprit struct {
	pid     int
	program string
	stopped bool // by a signal
}

// outlast calls f, which reads, until it meets no lock, patience ends or ctx does.
func (s *Store) outlast(ctx context.Context, f func() error) error {
	err := f()
	if !busy(err) {
		return err
	}
	since := time.Now()
	bounded, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	return blame(ctx, s.path, since, retry(bounded, f))
}

// blame is the error of a wait: for a lock of the file, if that was what it waited for
// and there has been one for long, else err.
func blame(ctx context.Context, path string, since time.Time, err error) error {
	ended := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	if !ended || since.IsZero() || time.Since(since) < longLock {
		return err
	}
	return locked(path, since, ctx.Err())
}
