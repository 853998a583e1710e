package processor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// dispatch finds events and puts them into free slots until ctx ends. handlerCtx
// is what handlers live under: it outlasts ctx by the grace time.
func (w *worker) dispatch(ctx, handlerCtx context.Context) {
	poll := newPoller(w)
	defer poll.stop()
	queue := poll.look(ctx)
	for ctx.Err() == nil {
		queue = w.fill(ctx, handlerCtx, queue)
		w.setQueue(queue)
		select {
		case <-ctx.Done():
		case <-w.freed:
		case <-w.sub.c:
			queue = enqueue(queue, w.mine(w.sub.take())...)
		case <-w.steered:
			poll.last = time.Time{}
			queue = enqueue(queue, poll.look(ctx)...)
		case <-w.looks.c:
			seen := w.examine(ctx, w.stats(ctx, w.mine(w.looks.take())))
			queue = enqueue(queue, seen.names...)
		case <-poll.c():
			queue = enqueue(queue, poll.look(ctx)...)
		}
	}
}

// setQueue lets the slots see which streams wait for one.
func (w *worker) setQueue(queue []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = slices.Clone(queue)
}

// mine keeps the streams that this worker is restricted to.
func (w *worker) mine(names []string) []string {
	if w.only == nil {
		return names
	}
	return slices.DeleteFunc(names, func(doc string) bool { return !slices.Contains(w.only, runNameOf(doc)) })
}

func enqueue(queue []string, names ...string) []string {
	for _, name := range names {
		if !slices.Contains(queue, name) {
			queue = append(queue, name)
		}
	}
	return queue
}

// fill claims events for the free slots, one stream after the other. A stream
// that gave all that was asked for stays the first of its run: slots that are
// together share uploads. One that gave less has no more.
func (w *worker) fill(ctx, handlerCtx context.Context, queue []string) []string {
	for len(queue) > 0 && ctx.Err() == nil {
		w.lookForSlots(ctx)
		if w.drained() {
			return queue
		}
		if w.lookForPause(ctx) {
			return nil // the poll finds them again
		}
		if w.full() {
			return queue
		}
		var name string
		name, queue = w.turns.next(queue)
		c, err := w.claim(ctx, name)
		if c.late {
			queue = append(queue, name)
			continue
		}
		if first := w.rest.note(name, c.gave()); err != nil && first && ctx.Err() == nil {
			w.log.WarnContext(ctx, "events were not claimed", "stream", name, "err", err)
		}
		if len(c.got) > 0 && c.filled || w.learn(ctx, c.foreign) {
			queue = slices.Insert(queue, 0, name)
		}
		c.occupy(handlerCtx)
	}
	return queue
}

// claim claims events of a stream. It waits for the stream's lease only so long,
// since other streams may have work, too.
func (w *worker) claim(ctx context.Context, name string) (*claiming, error) {
	ctx, cancel := context.WithTimeout(ctx, w.p.timing.claim)
	defer cancel()
	c := &claiming{w: w, stream: name, strays: true}
	// Before the edit: what becomes suspect while it runs it may have passed over.
	suspect := w.acquit(name)
	_, err := w.p.edit(ctx, name, c.run)
	if err == nil {
		return c, nil
	}
	c.reset()
	if errors.Is(err, ErrNoRun) {
		return c, nil
	}
	if suspect || errors.Is(err, scope.ErrOutcomeUnknown) {
		w.suspectStream(name)
	}
	return c, err
}

// poller looks for streams with events to claim.
type poller struct {
	w        *worker
	ticker   *time.Ticker
	versions store.Versioner // nil if the store has none
	version  uint64
	last     time.Time     // of the last listing
	wait     time.Duration // until the next
	quiet    int           // looks in a row that showed no work
}

// manyLooks is how many looks in a row show no work before they become rarer, by the
// factor rarely.
const (
	manyLooks = 500
	rarely    = 5
)

func newPoller(w *worker) *poller {
	t := w.p.timing
	p := &poller{w: w, wait: t.poll}
	interval := t.poll
	if v, ok := w.p.scope.Store().(store.Versioner); ok {
		p.versions, interval = v, t.look
	}
	p.ticker = time.NewTicker(interval)
	return p
}

func (p *poller) stop()               { p.ticker.Stop() }
func (p *poller) c() <-chan time.Time { return p.ticker.C }

// look returns the streams that seem to have work. On a local store most calls
// ask only whether anything was written at all.
func (p *poller) look(ctx context.Context) []string {
	if time.Since(p.last) < p.wait && !p.changed(ctx) {
		return nil
	}
	p.last = time.Now()
	names, due := p.w.list(ctx)
	busy := len(names) > 0 && !p.w.drained()
	p.pace(busy)
	p.paceLooks(busy)
	if !due.IsZero() {
		p.wait = min(p.wait, max(due.Sub(p.w.p.scope.Now()), p.w.p.timing.poll))
	}
	return names
}

// changed reports whether the store was written to since the last look, as far
// as a worker with a free slot can care.
func (p *poller) changed(ctx context.Context) bool {
	if p.versions == nil || p.w.full() {
		return false
	}
	version, err := p.versions.Version(ctx)
	changed := err == nil && version != p.version
	if changed {
		p.version = version // what that is worth a listing shows
	} else {
		p.paceLooks(false)
	}
	return changed
}

// paceLooks looks less often while nobody writes what is work for us. Leases are
// renewed every few seconds, our own among them, and each time there is a new version.
func (p *poller) paceLooks(busy bool) {
	look := p.w.p.timing.look
	switch {
	case p.versions == nil:
	case !busy:
		p.quiet++
		if p.quiet == manyLooks {
			p.ticker.Reset(rarely * look)
		}
	case p.quiet >= manyLooks:
		p.ticker.Reset(look)
		p.quiet = 0
	default:
		p.quiet = 0
	}
}

// pace waits longer from poll to poll while there is nothing to do.
func (p *poller) pace(busy bool) {
	t := p.w.p.timing
	longest := t.idlePoll
	switch {
	case busy:
		p.wait = t.poll
		return
	case p.w.sweeping.Load():
		longest *= 4 // the sweep lists the streams as well, and tells of what it sees
	case p.w.busyNow():
		longest = t.longPoll
	}
	p.wait = min(longest, p.wait*2)
}

// lookForPause sees whether all claims are to stop: when there is something to
// claim, and at most once a poll. A worker whose slots are all taken by handlers that
// take long claims nothing, and need not know. If it cannot be seen, what was seen
// last holds.
func (w *worker) lookForPause(ctx context.Context) bool {
	if claimed := w.claimed.Load(); time.Since(w.pauseSeen) >= w.p.timing.poll && !(w.full() && claimed == w.pauseAfter) {
		w.pauseSeen, w.pauseAfter = time.Now(), claimed
		if paused, err := w.p.AllPaused(ctx); err == nil {
			w.setAllPaused(paused)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.allPaused
}

func (w *worker) setAllPaused(paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allPaused = paused
}

func (w *worker) busyNow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running) > 0
}

// sight is what a look at streams showed.
type sight struct {
	names  []string        // of streams with work for this worker
	due    time.Time       // when the next event falls due; zero: none
	listed map[string]bool // all that were seen
	loads  loads           // of the runs with child streams
	whole  bool            // no error cut it short
}

// list looks at all streams. On the way it looks after the handlers whose streams
// are gone.
func (w *worker) list(ctx context.Context) (names []string, due time.Time) {
	seen := w.examine(ctx, w.blobs(ctx))
	if seen.whole {
		w.loads.Store(&seen.loads)
		w.followMoves(ctx, seen.listed)
	}
	return seen.names, seen.due
}

// examine looks for work in streams, after the handlers whose streams were
// steered, and for the definitions that runs have.
func (w *worker) examine(ctx context.Context, blobs iter.Seq2[*store.Info, error]) sight {
	seen, own := sight{listed: map[string]bool{}, loads: loads{}}, w.handled()
	for blob, err := range blobs {
		if err != nil {
			if ctx.Err() == nil {
				w.log.WarnContext(ctx, "poll", "err", err)
			}
			return seen
		}
		name, ok := documentOf(blob.Name)
		if !ok {
			continue
		}
		summary, known := eventstream.ParseSummary(blob.Metadata)
		seen.listed[name] = true
		if known {
			seen.loads.add(name, summary, own[name])
		}
		w.followSteer(ctx, name, glanceAt(blob))
		if known && !summary.Status.Final() {
			w.learn(ctx, summary.Definition)
		}
		switch {
		case known && summary.Status.Final():
			w.rest.forget(name)
		case !known || w.hasWork(name, summary):
			if w.rest.over(name, blob.ETag) {
				seen.names = append(seen.names, name)
			}
		case !summary.Due.IsZero() && (seen.due.IsZero() || summary.Due.Before(seen.due)):
			seen.due = summary.Due
		}
	}
	seen.whole = true
	seen.names = w.spread(seen.names)
	return seen
}

// blobs lists the streams, or looks at those the worker is restricted to.
func (w *worker) blobs(ctx context.Context) iter.Seq2[*store.Info, error] {
	if w.only == nil {
		return w.p.scope.Store().List(ctx, streamPrefix)
	}
	return w.withChildren(ctx, w.stats(ctx, w.only))
}

// stats looks at some streams.
func (w *worker) stats(ctx context.Context, names []string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for _, name := range names {
			info, err := w.p.scope.Store().Stat(ctx, BlobOf(name), nil)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				info.Name = BlobOf(name)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

// hasWork says from the metadata alone whether a stream is worth an edit.
func (w *worker) hasWork(name string, summary eventstream.Summary) bool {
	pl := w.served.of(summary.Definition)
	switch {
	case summary.Status.Final() || pl == nil:
		return false
	case w.isSuspect(name) || summary.Ready == nil:
		return true
	case summary.Paused:
		return false
	case !summary.Due.IsZero() && !summary.Due.After(w.p.scope.Now()):
		return true
	}
	return pl.canTake(w.together(name, summary))
}

// followSteer stops handlers whose events were taken away, when somebody steered
// their stream or wrote it by hand.
func (w *worker) followSteer(ctx context.Context, name string, now glance) {
	before, known := w.glances[name]
	if !known && !w.handlesIn(name) {
		return
	}
	isOurs := !known && now.steer == "0" && w.p.Wrote(now.etag) // nobody has steered it yet
	if isOurs || !now.calls(before) || w.stopUnowned(ctx, name, w.claimsOf(name)) {
		w.glances[name] = now
	}
}

// followMoves stops handlers whose streams are not where a listing shows them:
// somebody removed them.
func (w *worker) followMoves(ctx context.Context, listed map[string]bool) {
	maps.DeleteFunc(w.glances, func(name string, _ glance) bool { return !listed[name] })
	for _, name := range w.busyStreams() {
		if !listed[name] {
			w.stopUnowned(ctx, name, w.claimsOf(name))
		}
	}
}

// busyStreams are the streams with handlers of ours.
func (w *worker) busyStreams() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.running))
}

// stopLost looks at every stream with handlers of ours.
func (w *worker) stopLost(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.p.timing.idlePoll)
	defer cancel()
	for _, name := range w.busyStreams() {
		w.stopUnowned(ctx, name, w.claimsOf(name))
	}
}

// stopUnowned reads a stream, without its lease, and stops the handlers of those
// events that are no longer ours. An event that is ours, though nobody here works on
// it, gets the stream a look with its lease. It reports whether that is all there is to do as
// long as the stream stays as it is.
func (w *worker) stopUnowned(ctx context.Context, name string, claims []*claim) bool {
	run := "" // enough for what lies among the open ones
	if len(claims) > 0 {
		run = claims[0].run
	}
	snapshot, err := w.p.read(ctx, name, run)
	if err != nil && !errors.Is(err, ErrNoRun) {
		w.log.WarnContext(ctx, "look for cancels", "stream", name, "err", err)
		return errors.Is(err, eventstream.ErrMalformed)
	}
	for _, cl := range claims {
		if err != nil {
			cl.stop(err)
		} else if lost := w.owns(snapshot.Stream, cl.taskKey); lost != nil {
			cl.stop(lost)
		}
	}
	if err == nil && len(w.strays(name, snapshot.Stream)) > 0 {
		w.suspectStream(name)
	}
	return true
}

// handlesIn reports whether claimsOf has any.
func (w *worker) handlesIn(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cl := range w.running[name].claims {
		if cl.cancel != nil {
			return true
		}
	}
	return false
}

// claimsOf are those in a document whose handlers run.
func (w *worker) claimsOf(name string) []*claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	var claims []*claim
	for _, cl := range w.running[name].claims {
		if cl.cancel != nil {
			claims = append(claims, cl)
		}
	}
	return claims
}

// owns reports, as an error, why an event is no longer this worker's to handle.
func (w *worker) owns(s *eventstream.Stream, key taskKey) error {
	if s.Run() != key.run {
		return eventstream.ErrNotOwner
	}
	e, err := s.Owned(key.event, w.id, key.attempt)
	if err == nil && e.Attr("started") != key.started {
		return fmt.Errorf("event %s: %w: it is another one of that id", key.event, eventstream.ErrNotOwner)
	}
	return err
}
