package scope

import (
	"context"
	"slices"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// line is the edits of one blob that wait for their turn. Its goroutine takes the
// lease, applies what waits, writes it, and so on while there is something to do
// and the time of the lease has not come; then it ends.
type line struct {
	s    *Scope
	blob string
	wake chan struct{} // to one that lingers; has room for one

	// Guarded by Scope.mu.
	next      *batch // takes edits in; nil if none waits
	callers   int    // in Edit
	working   bool
	lingering bool
	nobody    context.CancelCauseFunc // ends the wait for the lease; nil if none is on
	held      *store.LeaseInfo        // the lease that is waited for, as last seen

	// Of the goroutine that works.
	current  *batch        // set with Scope.mu held; the same as next until it is sealed
	together int           // edits of the batch before
	sealed   time.Time     // when the last batch was
	took     time.Duration // from then until it was durable
	hold     time.Duration // how long the lease is kept while edits wait
	loadTook time.Duration // what it took to read the document the time before; 0 if it was in memory
	released time.Time     // when the lease was, last
	others   time.Time     // when it was last seen that others have written
	doc      *document     // as committed; nil if it has to be read

	// The last time that the document was read ahead, and what that took.
	ahead     time.Time
	aheadETag string // at the look before; what cannot be read is not read again
	aheadTook time.Duration
}

// join puts a job into the next batch of a blob and sees that someone works.
func (s *Scope) join(blob string, j *job) (*line, *batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return nil, nil, ErrClosed
	}
	l := s.blobs[blob]
	if l == nil {
		l = s.newLine(blob)
	}
	if l.next == nil {
		l.next = &batch{done: make(chan struct{})}
	}
	l.next.jobs = append(l.next.jobs, j)
	l.callers++
	l.rouse()
	return l, l.next, nil
}

// newLine is called with mu held.
func (s *Scope) newLine(blob string) *line {
	l := &line{s: s, blob: blob, wake: make(chan struct{}, 1)}
	s.blobs[blob] = l
	return l
}

// rouse starts the goroutine of a line, or wakes it. It ends when nothing waits.
func (l *line) rouse() {
	switch {
	case !l.working:
		l.working = true
		l.s.unpark(l)
		l.s.lines.Go(l.work)
	case l.lingering:
		l.lingering = false
		l.wake <- struct{}{}
	}
}

// work serves the line until nothing waits. An edit that ends its goroutine, as
// testing.T.FailNow does, ends this one; another one then goes on.
func (l *line) work() {
	orderly := false
	defer func() {
		if !orderly {
			l.s.lines.Go(l.work)
		}
	}()
	for l.more() {
		l.session()
	}
	orderly = true
}

// more reports whether something waits. If not, the line is not worked at from now
// on.
func (l *line) more() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.current != nil || l.next != nil {
		return true
	}
	l.working = false
	l.s.park(l)
	return false
}

// session is one term of a lease: acquire, edit while there is something to do,
// release. Whoever was busy to the end of its time then pauses, or the others
// would never get their turn.
func (l *line) session() {
	t := &tenure{l: l}
	defer t.end()
	if err := t.ensure(); err != nil {
		l.refuse(err)
		return
	}
	l.adjustHold(t)
	busy := l.serve(t)
	l.loadTook = t.load
	t.end()
	l.released = time.Now()
	if busy && l.s.set.strategy == Leased {
		pause := backoff{waits: l.s.set.pause}
		_ = sleep(l.s.open, pause.next())
	}
}

// longHold is how many times MaxHold a lease is kept at most, where nobody else seems to
// ask for it.
const longHold = 5

// adjustHold keeps the lease twice as long as the last time if nobody has written since,
// and only for MaxHold if somebody has, or one might be about to begin. While a stream
// is shared, that nobody has written says nothing: whoever comes back at once finds it as
// it was.
func (l *line) adjustHold(t *tenure) {
	before, least := l.hold, l.s.set.maxHold
	l.hold = least
	switch {
	case t.lease == nil || l.doc == nil:
	case l.doc.ahead || l.doc.etag != t.etag:
		l.others, l.doc.ahead = time.Now(), false
	case !l.shared():
		l.hold = min(max(2*before, least), longHold*least)
	}
}

// manyTurns times MaxHold is for how long others who have written are expected to
// go on.
const manyTurns = 10

func (l *line) shared() bool { return time.Since(l.others) < manyTurns*l.s.set.maxHold }

// comesBack reports whether others who share the stream may not have had a chance
// since we had our turn.
func (l *line) comesBack() bool {
	return l.s.local && l.shared() && time.Since(l.released) < manyTurns*l.s.set.poll.max
}

// serve edits until nothing waits, or the time of the lease has come: then it
// reports true.
func (l *line) serve(t *tenure) (busy bool) {
	for l.collect() {
		l.process(t)
		l.took = time.Since(l.sealed)
		if time.Since(t.since) >= l.due(t) {
			return true
		}
	}
	return false
}

// worthLoading is how many times what it takes to read the document the lease is
// kept at least: or whoever shares a large one would read more than write.
const worthLoading = 4

// due is how long the lease is kept. One read that took long is none of the others'
// fault; two are what to expect.
func (l *line) due(t *tenure) time.Duration {
	return max(l.hold, min(worthLoading*min(t.load, l.loadTook), longHold*l.s.set.maxHold))
}

// collect takes over what waits, or what comes within a moment; false if nothing
// does.
func (l *line) collect() bool {
	if l.current == nil && !l.pending() && !l.linger() {
		return false
	}
	return l.open()
}

// open takes over what waits as the current batch. It goes on taking edits in until
// it is sealed.
func (l *line) open() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.current == nil {
		l.current = l.next
	}
	if l.current == nil {
		return false
	}
	l.current.taken = true
	return true
}

// seal takes over what waits as the current batch, if there is none, and takes no
// more edits into it.
func (l *line) seal() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.current == nil {
		l.current = l.next
	}
	if l.current == nil {
		return false
	}
	if l.current == l.next {
		l.next = nil
		l.together, l.sealed = len(l.current.jobs), time.Now()
	}
	return true
}

// arrivals are the edits of the current batch, without the first n.
func (l *line) arrivals(n int) []*job {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.current.jobs[n:]
}

// pending reports whether there is a next batch. Its callers may all have left; it
// has to be taken up all the same, or the line would never come to rest.
func (l *line) pending() bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.next != nil
}

// linger waits for an edit for a moment, and reports whether there is one.
func (l *line) linger() bool {
	if !l.lingers(true) {
		return l.pending()
	}
	timer := time.NewTimer(l.s.set.linger)
	defer timer.Stop()
	select {
	case <-l.wake:
	case <-timer.C:
	case <-l.s.open.Done():
	}
	l.lingers(false)
	return l.pending()
}

// lingers begins or ends lingering; false if there is no need to begin.
func (l *line) lingers(on bool) bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if on && (l.next != nil || l.s.closed()) {
		return false
	}
	l.lingering = on
	select {
	case <-l.wake:
	default:
	}
	return true
}

// park keeps the document of an idle line for a while. Called with mu held.
func (s *Scope) park(l *line) {
	if l.doc == nil {
		delete(s.blobs, l.blob)
		return
	}
	s.warm = append(s.warm, l)
	if len(s.warm) > s.set.warm {
		delete(s.blobs, s.warm[0].blob)
		s.warm = slices.Delete(s.warm, 0, 1)
	}
}

// unpark takes a line that is worked at again out of the idle ones. Called with mu
// held.
func (s *Scope) unpark(l *line) {
	if i := slices.Index(s.warm, l); i >= 0 {
		s.warm = slices.Delete(s.warm, i, i+1)
	}
}
