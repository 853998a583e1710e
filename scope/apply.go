package scope

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// apply runs the edits of the current batch while they come, and seals it when all
// have that are expected. It counts those after which workers must look.
func (l *line) apply(doc *document) (steered int) {
	patience := l.patience()
	for n, sealed := 0, false; !sealed; {
		sealed = !l.expects(n, &patience)
		if sealed {
			l.seal()
		}
		for _, j := range l.arrivals(n) {
			if l.run(doc, j).Steered {
				steered++
			}
			n++
		}
	}
	return steered
}

// When nothing has come while the others had gatherYields times the chance to run, it
// is taken that all have come. They are waited for no longer than gatherLimit or than
// the upload before took, whichever is longer: on a busy machine many need longer to
// come back, and each upload that is saved is worth as much. It is no sleep, which
// lasts a millisecond and more where the process has nothing else to do, however short
// it is meant to be.
const (
	gatherYields = 300
	gatherLimit  = time.Millisecond
)

func (l *line) patience() time.Duration { return max(gatherLimit, min(l.took, l.s.set.maxHold)) }

// expects reports whether more than n edits have come, and gives them a moment if
// need be. Callers that shared an upload come back together, one just after the
// other: the first of them does not begin the next upload for itself alone.
func (l *line) expects(n int, patience *time.Duration) bool {
	if n == 1 {
		runtime.Gosched() // it may not be alone
	}
	began := time.Now()
	for yields := 0; len(l.arrivals(n)) == 0; yields++ {
		if n >= l.together || yields == gatherYields || time.Since(began) > *patience {
			return false
		}
		runtime.Gosched()
	}
	*patience -= time.Since(began)
	return true
}

// run runs one edit, unless its caller has left.
func (l *line) run(doc *document, j *job) (changes eventstream.Changes) {
	if !j.state.CompareAndSwap(waiting, running) {
		return changes
	}
	ended := false
	defer func() {
		if !ended {
			l.interrupted(j, recover())
		}
		j.state.Store(applied)
	}()
	waited := time.Since(j.asked)
	if j.ctx.Err() != nil {
		j.err = fmt.Errorf("edit %q: not applied: %w", l.blob, context.Cause(j.ctx))
	} else {
		changes, j.err = doc.stream.Edit(l.s.Now(), func() error { return l.call(doc.stream, j) })
		j.result = resultOf(changes, waited)
	}
	ended = true
	return changes
}

// call runs the function of an edit, and refuses it if it makes the document too
// large. An edit that makes a large one smaller is welcome.
func (l *line) call(stream *eventstream.Stream, j *job) error {
	before := stream.Size()
	if err := j.f(stream); err != nil {
		return err
	}
	if size, limit := stream.Size(), l.s.maxBody.Load(); int64(size) > limit && size > before {
		return &Error{"edit", l.blob, fmt.Errorf("%w: %d bytes, %d allowed", store.ErrTooLarge, size, limit)}
	}
	return nil
}

// interrupted notes that the function of an edit panicked, or ended its
// goroutine; its caller will do the same. The stream has undone the edit.
func (l *line) interrupted(j *job, value any) {
	if value == nil {
		j.ended = exited
		return
	}
	j.ended, j.panic = panicked, value
	l.s.set.logger.Error("an edit panicked", "blob", l.blob, "err", value, "stack", string(debug.Stack()))
}

func resultOf(changes eventstream.Changes, waited time.Duration) Result {
	r := Result{Ended: changes.Ended, Changed: changes.Changed > 0, Waited: waited}
	if len(changes.Created) > 0 {
		r.Created = make([]EventRef, len(changes.Created))
	}
	for i, e := range changes.Created {
		r.Created[i] = EventRef{e.ID(), e.Topic()}
	}
	return r
}
