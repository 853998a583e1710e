package scope

import (
	"errors"
	"slices"
)

// batch is the edits of one stream that share an upload.
type batch struct {
	jobs  []*job        // grows while the batch takes edits in, with Scope.mu held
	taken bool          // its edits run; guarded by Scope.mu
	over  bool          // done is being closed; guarded by Scope.mu
	done  chan struct{} // closed when the outcome of every job is set
}

// rewind makes the jobs of the current batch ready to run; false if nobody waits
// for them.
func (l *line) rewind() bool {
	if l.ready() {
		return true
	}
	l.seal() // nobody comes any more
	return l.ready()
}

func (l *line) ready() bool {
	any := false
	for _, j := range l.arrivals(0) {
		any = any || j.state.Load() != left
		if j.ended == returned {
			j.err, j.result = nil, Result{}
			j.state.CompareAndSwap(applied, waiting)
		}
	}
	return any
}

// size is how many edits of the batch changed the document.
func (b *batch) size() int {
	n := 0
	for _, j := range b.jobs {
		if j.succeeded() && j.result.Changed {
			n++
		}
	}
	return n
}

// finish makes the outcome of the current batch known.
func (l *line) finish() {
	l.s.mu.Lock()
	b := l.current
	l.current = nil
	b.over = true
	for _, j := range b.jobs {
		if j.state.Load() != left {
			l.callers--
		}
	}
	l.s.mu.Unlock()
	close(b.done)
}

// refuse tells all that wait that there is no lease to be had.
func (l *line) refuse(err error) {
	if errors.Is(err, errNobody) && l.hasCallers() || !l.seal() {
		return
	}
	l.fail(err)
}

// fail ends the current batch with an error for everyone in it.
func (l *line) fail(err error) {
	for _, j := range l.current.jobs {
		j.fail(err)
	}
	l.finish()
}

func (l *line) hasCallers() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.callers > 0
}

// drop takes a job away whose caller leaves, if it is in the given state. False if
// it is not, or its outcome is known.
func (l *line) drop(b *batch, j *job, state int32) bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if b.over || !j.state.CompareAndSwap(state, left) {
		return false
	}
	l.callers--
	if !b.taken { // a lease that is held for hours must not pile up those who left
		b.jobs = slices.DeleteFunc(b.jobs, func(other *job) bool { return other == j })
	}
	if l.callers == 0 && l.nobody != nil {
		l.nobody(errNobody)
	}
	return true
}
