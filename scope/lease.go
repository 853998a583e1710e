package scope

import (
	"context"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Lease is a lease that is kept: renewed until it is released, or lost. Its
// methods may be called concurrently.
type Lease struct {
	s      *Scope
	blob   string
	id     string
	terms  terms
	etag   string // of the blob, when the lease was acquired
	polls  int
	waited time.Duration
	since  instant // start of the request that first granted it

	ctx      context.Context // ends with the lease
	end      context.CancelCauseFunc
	stop     context.CancelFunc // ends the keeper
	stopped  chan struct{}      // closed when the keeper has ended
	released chan struct{}      // closed when Release has ended

	mu         sync.Mutex // guards the fields below
	acquired   time.Time
	renewed    time.Time // start of the request that last granted it
	trusted    instant   // until when it is taken for ours
	expiry     *time.Timer
	trouble    error // of the last renewal; nil: it was granted
	err        error // why it is not held any more
	refused    bool  // the store said that it is not ours
	releasing  bool
	releaseErr error
}

// newLease makes a lease of what a request sent at start has granted. Its
// context has the values of ctx but does not end with it.
func (s *Scope) newLease(ctx context.Context, blob, id string, t terms, start instant) *Lease {
	l := &Lease{
		s: s, blob: blob, id: id, terms: t, since: start,
		stopped: make(chan struct{}), released: make(chan struct{}),
		acquired: start.wall, renewed: start.wall, trusted: t.trust(start),
	}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	return l
}

// ID is the lease ID.
func (l *Lease) ID() string { return l.id }

// Blob is the name of the leased blob; empty for the container.
func (l *Lease) Blob() string { return l.blob }

// Context ends when the lease is lost, with a cause that matches ErrLeaseLost, or
// released, with ErrReleased, or when its scope is closed, with ErrClosed. Work that needs the lease must end with it.
func (l *Lease) Context() context.Context { return l.ctx }

// Polls is how often the lease was asked for, or looked at while another holder
// had it. It is 1 if it was free.
func (l *Lease) Polls() int { return l.polls }

// Waited is how long it took to get the lease.
func (l *Lease) Waited() time.Duration { return l.waited }

// Err is nil as long as the lease is held. It looks at the clock, so that a
// process that was stopped for a while knows at once. An error matches ErrLeaseLost,
// ErrReleased or ErrClosed, and stays.
func (l *Lease) Err() error {
	l.mu.Lock()
	overdue := l.err == nil && l.s.clock.instant().reached(l.trusted)
	err := l.err
	l.mu.Unlock()
	if overdue {
		return l.lose(nil)
	}
	return err
}

// lose marks the lease lost and returns why it is not held. cause is what the
// store said; nil: it could not be renewed in time. A lease that has ended already
// keeps its reason.
func (l *Lease) lose(cause error) error {
	l.mu.Lock()
	l.refused = l.refused || cause != nil
	lost := l.err == nil
	if lost {
		l.err = &LostError{Blob: l.blob, ID: l.id, Acquired: l.acquired, Renewed: l.renewed, Trouble: l.trouble, Err: cause}
	}
	err := l.err
	l.mu.Unlock()
	if lost {
		l.s.stats.lost.Add(1)
		l.s.told.ended(l.since, l.s.clock.instant())
		l.s.set.logger.WarnContext(l.ctx, "lease lost", "blob", l.blob, "lease", l.id, "err", err)
		l.end(err)
	}
	return err
}

// keep starts the keeper. It refuses if the scope has been closed meanwhile.
func (s *Scope) keep(l *Lease) error {
	ctx, stop := context.WithCancel(l.ctx)
	l.stop = stop
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		stop()
		return ErrClosed
	}
	l.expiry = time.AfterFunc(l.s.clock.instant().until(l.trusted), func() { l.Err() })
	s.leases[l] = struct{}{}
	go l.renewals(ctx) // until the lease is lost or released; close waits for it
	return nil
}

// renewals renews until ctx ends, which it does with the lease.
func (l *Lease) renewals(ctx context.Context) {
	defer close(l.stopped)
	retry := backoff{waits: l.s.set.retry}
	next := l.terms.every
	for sleep(ctx, next) == nil && l.Err() == nil {
		start := l.s.clock.instant()
		switch err := l.renew(ctx); {
		case err == nil:
			l.extend(start)
			retry.reset()
			next = l.terms.every - (l.s.clock.instant().mono - start.mono)
		case notOurs(err) || missing(err):
			l.lose(err)
		default:
			l.s.set.logger.DebugContext(ctx, "lease not renewed", "blob", l.blob, "lease", l.id, "err", err)
			l.suffer(err)
			next = retry.next()
		}
	}
}

// renew tries once, but not beyond the time that the lease is trusted.
func (l *Lease) renew(ctx context.Context) error {
	l.mu.Lock()
	left := l.s.clock.instant().until(l.trusted)
	l.mu.Unlock()
	l.s.stats.renewals.Add(1)
	_, err := l.s.lease(ctx, l.blob, min(left, l.terms.try), &store.LeaseRequest{Action: store.LeaseRenew, ID: l.id})
	return err
}

// suffer keeps why a renewal failed, for who loses the lease by that.
func (l *Lease) suffer(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
}

// extend trusts the lease anew, as of a request sent at start. A lease that is
// lost stays so, even if the store has renewed it after all.
func (l *Lease) extend(start instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.renewed, l.trusted, l.trouble = start.wall, l.terms.trust(start), nil
	l.expiry.Reset(l.s.clock.instant().until(l.trusted))
}

// Release ends the lease, whether ctx has ended or not: the request has a context
// of its own, with a bound. It is no error if the lease was not ours any more. An
// error says that the store did not answer; the lease then ends by itself, within
// its duration. Whoever calls Release again gets the same result.
func (l *Lease) Release(ctx context.Context) error { return l.release(ctx, ErrReleased) }

// release ends the lease; why is the reason given to those who use it still.
func (l *Lease) release(ctx context.Context, why error) error {
	l.mu.Lock()
	first := !l.releasing
	l.releasing = true
	l.mu.Unlock()
	if !first {
		<-l.released
		return l.releaseErr
	}
	defer close(l.released)
	if refused := l.close(why); refused {
		return nil
	}
	l.releaseErr = l.s.release(ctx, l.blob, l.id, l.terms.try, releaseTries)
	return l.releaseErr
}

// close ends the context and the keeper, and reports whether the store has said
// already that the lease is not ours. A renewal that is under way is given up;
// should it arrive after the release, the store refuses it.
func (l *Lease) close(why error) (refused bool) {
	l.mu.Lock()
	held := l.err == nil
	if held {
		l.err = why
	}
	err, refused := l.err, l.refused
	l.expiry.Stop()
	l.mu.Unlock()
	if held {
		l.s.told.ended(l.since, l.s.clock.instant())
	}
	l.end(err)
	l.stop()
	<-l.stopped
	l.s.mu.Lock()
	delete(l.s.leases, l)
	l.s.mu.Unlock()
	return refused
}

const releaseTries = 4

// release gives a lease back, on a context that outlives ctx. That the lease is
// not there any more is what we want. A release that was refused as busy, or not
// answered, is repeated, or the lease would lock the blob to its end.
func (s *Scope) release(ctx context.Context, blob, id string, timeout time.Duration, tries int) error {
	ctx = context.WithoutCancel(ctx)
	retry := backoff{waits: s.set.retry}
	for n := 1; ; n++ {
		_, err := s.lease(ctx, blob, timeout, &store.LeaseRequest{Action: store.LeaseRelease, ID: id})
		switch {
		case err == nil || notOurs(err) || missing(err):
			return nil
		case n == tries || !passing(err):
			return &Error{"release the lease of", blob, err}
		}
		if err := sleep(ctx, retry.next()); err != nil {
			return err
		}
	}
}

// lease does one lease operation that may take no longer than timeout.
func (s *Scope) lease(ctx context.Context, blob string, timeout time.Duration, r *store.LeaseRequest) (*store.LeaseResult, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.st.Lease(ctx, blob, r)
}
