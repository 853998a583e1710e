package webbus

import (
	"sync"
	"time"
)

// quieter passes on that streams changed: at once, but then not again for a time,
// after which it tells once of all that came meanwhile.
type quieter struct {
	quiet time.Duration
	tell  func(stream string) // must not block

	mu      sync.Mutex // guards the fields below
	streams map[string]*silence
	closed  bool
	running sync.WaitGroup // timers, under mu, so that none begins while close waits
}

// silence is the time in which nothing is told of a stream.
type silence struct {
	timer *time.Timer
	again bool // there is something to tell at its end
}

func newQuieter(quiet time.Duration, tell func(stream string)) *quieter {
	return &quieter{quiet: quiet, tell: tell, streams: map[string]*silence{}}
}

// changed says that a stream changed.
func (q *quieter) changed(stream string) {
	if q.begin(stream) {
		q.tell(stream)
	}
}

// begin reports whether to tell at once.
func (q *quieter) begin(stream string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s, ok := q.streams[stream]; ok {
		s.again = true
		return false
	}
	if q.closed {
		return false
	}
	q.running.Add(1)
	q.streams[stream] = &silence{timer: time.AfterFunc(q.quiet, func() { q.end(stream) })}
	return true
}

// end runs at the end of each silence. What was told begins another one.
func (q *quieter) end(stream string) {
	if q.pending(stream) {
		q.tell(stream)
		q.resume(stream)
	}
}

// pending reports whether there is something to tell; if not, the stream is
// forgotten.
func (q *quieter) pending(stream string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.streams[stream]
	if s.again && !q.closed {
		s.again = false
		return true
	}
	q.forget(stream)
	return false
}

func (q *quieter) resume(stream string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.forget(stream)
		return
	}
	q.streams[stream].timer.Reset(q.quiet)
}

func (q *quieter) forget(stream string) {
	delete(q.streams, stream)
	q.running.Done()
}

// close ends all silences and waits for what is being told.
func (q *quieter) close() {
	q.mu.Lock()
	q.closed = true
	for stream, s := range q.streams {
		if s.timer.Stop() {
			q.forget(stream)
		}
	}
	q.mu.Unlock()
	q.running.Wait()
}
