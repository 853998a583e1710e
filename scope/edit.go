package scope

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// Result is what became of one edit.
type Result struct {
	// Created are the events that this edit created, in the order of the document.
	Created []EventRef
	// Ended: this edit made the root final, and so ended the run.
	Ended bool
	// Changed: this edit changed the document. If none of a batch did, nothing was
	// written.
	Changed bool
	// ETag is that of the blob with this edit in it; empty if the upload was not
	// answered and others had written by the time it was found to have taken effect.
	ETag string
	// Batch is how many edits the upload carried.
	Batch int
	// Waited is the time from the call until the edit ran: for the lease, and for
	// the edits before it.
	Waited time.Duration
	// Polls is how often the lease was asked for or looked at.
	Polls int

	committed *content
}

// EventRef names an event. The stream that it is in goes on.
type EventRef struct {
	ID    string
	Topic string // the step that handles it
}

// Stream is the stream as it was committed, this edit and all others of its
// upload included. It is parsed at the first call and shared by those whose edits
// were in the same upload: it is for reading only.
func (r *Result) Stream() (*eventstream.Stream, error) { return r.committed.parse() }

// content is a document as it is in the store.
type content struct {
	body *store.Body

	once   sync.Once
	stream *eventstream.Stream
	err    error
}

func (c *content) parse() (*eventstream.Stream, error) {
	c.once.Do(func() { c.stream, c.err = eventstream.Parse(c.body.Bytes()) })
	return c.stream, c.err
}

// job is an edit under way.
type job struct {
	ctx    context.Context
	f      func(*eventstream.Stream) error
	asked  time.Time
	state  atomic.Int32
	result Result
	err    error
	ended  ending
	panic  any
}

// States of a job. Its caller may leave it while it waits, and then it is never
// run; or while its outcome is awaited; but not while it runs.
const (
	waiting int32 = iota
	running
	applied
	left
)

// ending is how the function of a job went.
type ending int

const (
	returned ending = iota
	panicked
	exited // it called runtime.Goexit, as testing.T.FailNow does
)

// Edit applies f to the Event-Stream in a blob and returns when the result is
// durable. f may be run again, on fresher content, until it was written once, and
// so should depend on the stream alone. If it returns an error or panics, what it
// did is rolled back, and Edit returns the error, or panics in turn. An edit that
// changes nothing writes nothing. f must not keep the stream, nor edit the same
// blob again, which would wait for itself.
//
// Edits of one stream share the lease and the upload; f runs on another goroutine
// than the caller's, one at a time.
//
// Edit waits for the lease until ctx ends. Errors: store.ErrNotFound if there is no
// such blob (one of 0 bytes is an empty stream); eventstream.ErrMalformed if it
// cannot be read, and then nothing is written; store.ErrTooLarge if this edit made
// the document larger than the store takes; ErrOutcomeUnknown if f had run and ctx
// ended, or the store failed, before the upload was answered; the edit was not
// applied otherwise.
func (s *Scope) Edit(ctx context.Context, blob string, f func(*eventstream.Stream) error) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("edit %q: %w", blob, context.Cause(ctx))
	}
	if blob == "" {
		return nil, &Error{"edit", blob, fmt.Errorf("%w: a container has no content", store.ErrInvalid)}
	}
	j := &job{ctx: ctx, f: f, asked: time.Now()}
	l, b, err := s.join(blob, j)
	if err != nil {
		return nil, fmt.Errorf("edit %q: %w", blob, err)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		if err := l.leave(b, j); err != nil {
			return nil, err
		}
	}
	return j.answer()
}

// answer gives the outcome to the caller, as if f had run on its goroutine.
func (j *job) answer() (*Result, error) {
	switch j.ended {
	case panicked:
		panic(j.panic)
	case exited:
		runtime.Goexit()
	}
	if j.err != nil {
		return nil, j.err
	}
	return &j.result, nil
}

// leave is for a caller whose context has ended. It returns nil if the outcome is
// known all the same, after a short wait if need be. When it returns an error, f
// does not run and will not run again.
func (l *line) leave(b *batch, j *job) error {
	grace := time.NewTimer(l.s.set.grace)
	defer grace.Stop()
	for {
		if l.drop(b, j, waiting) {
			return l.notApplied(j)
		}
		select {
		case <-b.done:
			return nil
		case <-grace.C:
		}
		if l.drop(b, j, applied) {
			return &OutcomeError{"edit", l.blob, context.Cause(j.ctx)}
		}
		grace.Reset(time.Millisecond) // f runs, and we must not leave before it has ended
	}
}

// notApplied says why an edit was given up before it had taken effect.
func (l *line) notApplied(j *job) error {
	l.s.mu.Lock()
	held := l.held
	l.s.mu.Unlock()
	cause := context.Cause(j.ctx)
	if held == nil {
		return fmt.Errorf("edit %q: not applied: %w", l.blob, cause)
	}
	return fmt.Errorf("edit %q: not applied: %w", l.blob,
		&HeldError{Blob: l.blob, Lease: *held, Waited: time.Since(j.asked), Err: cause})
}

// succeeded reports whether the function of a job returned without an error.
func (j *job) succeeded() bool { return j.ended == returned && j.err == nil }

// fail gives a job that was not applied, or perhaps was, its error. One that
// panicked keeps that.
func (j *job) fail(err error) {
	if j.ended == returned {
		j.err = err
	}
}
