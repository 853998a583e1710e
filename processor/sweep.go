package processor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// sweep cares for all open runs of the container, as long as this worker has the
// lease for it; one worker at a time has.
func (w *worker) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		lease, err := w.p.scope.Hold(ctx, sweepLock, &scope.HoldOptions{Duration: w.p.timing.lease, Create: true})
		if err != nil {
			if !errors.Is(err, store.ErrLeaseHeld) && ctx.Err() == nil {
				w.log.WarnContext(ctx, "sweep", "err", err)
			}
			sleep(ctx, w.p.timing.sweep)
			continue
		}
		w.sweepUnder(ctx, lease)
		if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
			w.log.WarnContext(ctx, "sweep lease was not released", "err", err)
		}
	}
}

func (w *worker) sweepUnder(ctx context.Context, lease *scope.Lease) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(lease.Context(), cancel)
	defer stop()
	w.sweeping.Store(true)
	defer w.sweeping.Store(false)
	open := newCensus(w.p.meters)
	defer open.leave(ctx)
	collected := time.Now() // a worker that lives shortly leaves the garbage to others
	seen := newSightings(w.noticeSteer)
	for ctx.Err() == nil {
		err := w.p.sweepOnce(ctx, seen, open.begin(w.notice))
		open.end(ctx, err)
		if time.Since(collected) >= garbageEvery {
			collected = time.Now()
			err = errors.Join(err, w.p.collectGarbage(ctx))
		}
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "sweep", "err", err)
		}
		sleep(ctx, w.p.timing.sweep)
	}
}

// notice makes a listing of the sweep serve as a poll as well.
func (w *worker) notice(name string, summary eventstream.Summary) {
	if w.hasWork(name, summary) {
		w.sub.add(name)
	}
}

// noticeSteer lets the dispatcher look after its handlers, if there are any of a
// stream that was steered.
func (w *worker) noticeSteer(name string) {
	if len(w.claimsOf(name)) == 0 {
		return
	}
	select {
	case w.steered <- struct{}{}:
	default:
	}
}

// sweepOnce looks at every open run: events of workers that are dead go back to
// init, timeouts are enforced, runs past their deadline end.
func (p *Processor) sweepOnce(ctx context.Context, seen *sightings, notice func(string, eventstream.Summary)) error {
	streams, docs, err := p.openStreams(ctx, seen, notice)
	if err != nil {
		return err
	}
	p.sweepChildren(ctx, seen, docs)
	if len(streams) == 0 {
		return nil
	}
	// The workers are looked at after the streams: one that registered later has
	// nothing in what was read.
	alive, err := p.liveWorkers(ctx)
	if err != nil {
		return err
	}
	for name, s := range streams {
		err := p.mend(ctx, name, s, alive)
		if err != nil && !errors.Is(err, ErrNoRun) {
			p.log.WarnContext(ctx, "sweep", "stream", name, "err", err)
		}
	}
	return nil
}

// openStreams reads the runs that a sweep may find something to do in, and moves
// those that ended long ago to the archive. notice is told of each run whose
// metadata are ours. One that cannot be read is left to the next sweep: the others
// do not wait for it.
func (p *Processor) openStreams(ctx context.Context, seen *sightings, notice func(string, eventstream.Summary)) (map[string]*eventstream.Stream, documents, error) {
	streams, docs := map[string]*eventstream.Stream{}, documents{}
	seen.begin()
	for blob, err := range p.scope.Store().List(ctx, streamPrefix) {
		if err != nil {
			return nil, nil, err
		}
		name, ok := documentOf(blob.Name)
		summary, known := eventstream.ParseSummary(blob.Metadata)
		if ok && known {
			notice(name, summary)
			seen.look(name, blob)
			docs.add(name, summary, blob.Metadata[metaPurging] != "")
		}
		switch {
		case !ok || blob.Metadata[metaPurging] != "":
			continue
		case known && name == runNameOf(name) && archivable(summary, p.scope.Now()):
			if err := p.archive(ctx, name, summary.Run); err != nil {
				p.log.WarnContext(ctx, "archive", "stream", name, "err", err)
			}
			continue
		case known && !p.needsSweep(summary):
			continue
		}
		s, err := p.readUnseen(ctx, seen, name, summary.Run, blob.ETag)
		switch {
		case err == nil:
			streams[name] = s
		case errors.Is(err, ErrNoRun) || errors.Is(err, eventstream.ErrMalformed) || ctx.Err() != nil:
		default:
			p.log.WarnContext(ctx, "sweep", "stream", name, "err", err)
		}
	}
	return streams, docs, nil
}

// readUnseen reads a document that is listed with an ETag, unless this sweep or the
// last one has read it as it is.
func (p *Processor) readUnseen(ctx context.Context, seen *sightings, doc, run, etag string) (*eventstream.Stream, error) {
	if s := seen.unchanged(doc, etag); s != nil {
		return s, nil
	}
	snapshot, err := p.read(ctx, doc, run)
	if err != nil {
		return nil, err
	}
	seen.keep(doc, snapshot)
	return snapshot.Stream, nil
}

func (p *Processor) needsSweep(s eventstream.Summary) bool {
	now := p.scope.Now()
	return !s.Status.Final() && (s.Running == nil || len(s.Running) > 0 ||
		!s.Due.IsZero() && s.Due.Before(now) || !s.Deadline.IsZero() && s.Deadline.Before(now))
}

// liveWorkers lists who works. A lease whose holder is dead is broken first, and
// so is one that has expired: a holder that comes back cannot renew it any more.
func (p *Processor) liveWorkers(ctx context.Context) (map[string]bool, error) {
	alive := map[string]bool{}
	for blob, err := range p.scope.Store().List(ctx, workerPrefix) {
		if err != nil {
			return nil, err
		}
		id, ok := workerOf(blob.Name)
		if !ok {
			continue
		}
		switch state := blob.Lease.State; {
		case p.isAlive(blob):
			alive[id] = true
		case state.Locked() || state == store.LeaseExpired:
			_, err := p.scope.Store().Lease(ctx, blob.Name, &store.LeaseRequest{Action: store.LeaseBreak, Holder: blob.Lease.Holder})
			if err != nil {
				// Not known to be dead: to be on the safe side it is alive.
				alive[id] = true
			}
		}
	}
	return alive, nil
}

// mend edits one stream, if it needs it.
func (p *Processor) mend(ctx context.Context, name string, s *eventstream.Stream, alive map[string]bool) error {
	m := &mender{p: p, name: name, dead: deadKeys(s, alive), now: p.scope.Now()}
	if !m.needed(s) {
		return nil
	}
	if _, err := p.edit(ctx, name, m.run); err != nil {
		return err
	}
	p.meters.gaveBack(ctx, m.gaveBack)
	p.wake(ctx, name, m.back)
	return nil
}

type mender struct {
	p    *Processor
	name string
	dead map[string]bool // workers that had claims when the stream was read, and do not live
	now  time.Time
	back []bus.Doorbell // for what it put back to init

	gaveBack []swept
}

// deadKeys are the workers with claims in a stream, read before alive was, that
// are not alive. A stream without a definition is not worked on by workers of
// ours, and its keys mean something else.
func deadKeys(s *eventstream.Stream, alive map[string]bool) map[string]bool {
	dead := map[string]bool{}
	if s.Attr("definition") == "" {
		return dead
	}
	for e := range s.ByStatus(eventstream.Inprocess) {
		if e.Running() && !alive[e.Key()] {
			dead[e.Key()] = true
		}
	}
	return dead
}

func (m *mender) needed(s *eventstream.Stream) bool {
	if s.IsDone() {
		return false
	}
	if m.expired(s) {
		return true
	}
	if len(m.dead) > 0 {
		return true
	}
	for e := range s.Woken(m.now) {
		if m.overdue(e) {
			return true
		}
	}
	return false
}

// run decides inside the edit, on the stream as it is then. A worker that was
// dead stays dead: an ID serves one lease.
func (m *mender) run(s *eventstream.Stream) error {
	m.back, m.gaveBack = nil, nil
	if s.IsDone() {
		return nil
	}
	if m.expired(s) {
		return s.Abort(s.Root(), eventstream.ByTimeout, "deadline")
	}
	for _, e := range m.orphans(s) {
		if err := m.fail(s, e, causeWorker, obituary(e.Key())); err != nil {
			return err
		}
	}
	var overdue []*eventstream.Event
	for e := range s.Woken(m.now) {
		if m.overdue(e) {
			overdue = append(overdue, e)
		}
	}
	for _, e := range overdue {
		if err := m.expire(s, e); err != nil {
			return err
		}
	}
	return nil
}

// expired reports whether the run is past its deadline.
func (m *mender) expired(s *eventstream.Stream) bool {
	deadline, err := eventstream.ParseTime(s.Attr("deadline"))
	return err == nil && s.Attr("paused") == "" && deadline.Before(m.now)
}

// obituary is what stands in an attempt whose worker died. Who reads its own
// cannot renew its lease any more.
func obituary(worker string) string { return fmt.Sprintf("worker %s died", worker) }

// orphans are the events whose workers are dead.
func (m *mender) orphans(s *eventstream.Stream) []*eventstream.Event {
	var orphans []*eventstream.Event
	for e := range s.ByStatus(eventstream.Inprocess) {
		if e.Running() && m.dead[e.Key()] {
			orphans = append(orphans, e)
		}
	}
	return orphans
}

// overdue reports whether a timeout has passed. Whoever handles an event
// enforces its timeout first; the sweep comes after two more polls.
func (m *mender) overdue(e *eventstream.Event) bool {
	if e.Status() != eventstream.Inprocess {
		return false
	}
	if e.Running() {
		limit := e.Time("started").Add(e.Timeout() + 2*m.p.timing.poll)
		return limit.Before(m.now)
	}
	return true
}

func (m *mender) expire(s *eventstream.Stream, e *eventstream.Event) error {
	switch {
	case e.Status() != eventstream.Inprocess:
		return nil // an earlier one took it along
	case e.IsSplit():
		return s.CloseSplit(e, eventstream.ByTimeout)
	}
	return m.fail(s, e, causeTimeout, fmt.Sprintf("timeout of %v", e.Timeout()))
}

func (m *mender) fail(s *eventstream.Stream, e *eventstream.Event, cause, why string) error {
	m.gaveBack = append(m.gaveBack, swept{s.Attr("pipeline"), e.Topic(), cause})
	if err := s.Fail(e, eventstream.Attempt{N: e.Attempt(), Error: why}); err != nil {
		return err
	}
	m.back = append(m.back, bellOf(m.name, e))
	return s.GiveBack(e, time.Time{})
}
