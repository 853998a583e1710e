package scope

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// acquisition gets one lease. It has one lease ID for all its tries, since an
// acquire that was not answered may have succeeded; the same ID then finds it.
type acquisition struct {
	s      *Scope
	blob   string
	id     string
	terms  terms
	wait   time.Duration                      // for a lease that is held; 0: not at all; waitForever
	create bool                               // make an empty blob if there is none
	seen   func(store.LeaseInfo)              // told what a look at a held lease shows; may be nil
	turn   *turn                              // among those who share a stream; nil: whoever comes first
	yields bool                               // to others, if they wait: looks before it first asks
	waits  func(context.Context, *store.Info) // called with each look, while we wait; may be nil

	began    time.Time
	polls    int
	asked    bool      // once more after the wait
	warned   bool      // that the wait is long
	unsure   bool      // an acquire was not answered: the lease may be ours
	troubled time.Time // since when the store does not answer; zero: it does
	poll     backoff
	retry    backoff

	locked  bool      // at the last look
	looked  time.Time // when that was
	version uint64    // of the store, just before
}

const waitForever time.Duration = -1

// run returns a lease that is kept. It ends with ctx.
func (a *acquisition) run(ctx context.Context) (*Lease, error) {
	if err := a.terms.check(); err != nil {
		return nil, &Error{"acquire the lease of", a.blob, err}
	}
	a.begin()
	if ctx.Err() != nil {
		return nil, a.ended(ctx)
	}
	if a.yields {
		if err := a.waitFree(ctx); err != nil {
			return nil, err
		}
	}
	for {
		start := a.s.clock.instant()
		result, err := a.try(ctx)
		if err == nil {
			if !a.s.clock.instant().reached(a.terms.trust(start)) {
				return a.take(ctx, result, start)
			}
			err = errLate
		}
		if err := a.again(ctx, err); err != nil {
			a.abandon(ctx)
			return nil, err
		}
	}
}

func (a *acquisition) begin() {
	a.began = time.Now()
	a.poll, a.retry = backoff{waits: a.s.set.poll}, backoff{waits: a.s.set.retry}
}

func (a *acquisition) try(ctx context.Context) (*store.LeaseResult, error) {
	a.polls++
	a.s.stats.acquires.Add(1)
	return a.s.lease(ctx, a.blob, a.terms.try, &store.LeaseRequest{
		Action: store.LeaseAcquire, ID: a.id, Duration: a.terms.duration, Holder: &a.s.procs.self,
	})
}

func (a *acquisition) take(ctx context.Context, result *store.LeaseResult, start instant) (*Lease, error) {
	l := a.s.newLease(ctx, a.blob, a.id, a.terms, start)
	l.etag, l.polls, l.waited = result.ETag, a.polls, time.Since(a.began)
	if err := a.s.keep(l); err != nil {
		a.unsure = true
		a.abandon(ctx)
		return nil, err
	}
	a.s.told.acquired(l.polls, l.waited)
	return l, nil
}

// errLate: an answer that came too late to trust the lease.
var errLate = errors.New("the store took longer to answer than the lease can be trusted")

// again decides what follows on a try that got no lease, and waits if there is to
// be another one.
func (a *acquisition) again(ctx context.Context, err error) error {
	a.unsure = a.unsure || !known(err)
	switch {
	case ctx.Err() != nil && errors.Is(err, store.ErrStoreLocked):
		return &Error{"acquire the lease of", a.blob, endedBy(context.Cause(ctx), err)}
	case ctx.Err() != nil:
		return a.ended(ctx)
	case passing(err):
		return a.bear(ctx, err)
	}
	a.troubled = time.Time{}
	switch {
	case heldByOther(err):
		a.s.stats.refused.Add(1)
		return a.waitFree(ctx)
	case a.create && errors.Is(err, store.ErrNotFound):
		return a.s.makeEmpty(ctx, a.blob)
	}
	return &Error{"acquire the lease of", a.blob, err}
}

// bear waits for a store that has trouble, for as long as it is worth it.
func (a *acquisition) bear(ctx context.Context, err error) error {
	if a.troubled.IsZero() {
		a.troubled = time.Now()
	}
	if time.Since(a.troubled) >= a.s.set.giveUp {
		return &Error{"acquire the lease of", a.blob, err}
	}
	if sleep(ctx, a.retry.next()) != nil {
		return a.ended(ctx)
	}
	return nil
}

// waitFree returns when the lease may be free. On a local store it looks before
// it asks: looking disturbs nobody, asking is a write.
func (a *acquisition) waitFree(ctx context.Context) error {
	if a.wait == 0 {
		return a.freeNow(ctx)
	}
	for {
		if err := a.pause(ctx); err != nil {
			return err
		}
		if !a.s.local {
			a.tell(store.LeaseInfo{State: store.LeaseLeased})
			return nil
		}
		if a.still(ctx) {
			continue
		}
		info, err := a.look(ctx)
		if err != nil || a.hasTurn(info, !info.Lease.State.Locked() || a.breakDead(ctx, info)) {
			return nil
		}
		if a.waits != nil {
			a.waits(ctx, info)
		}
	}
}

// hasTurn reports whether to ask for a lease, after a look. If not, it sets when to
// look again.
func (a *acquisition) hasTurn(info *store.Info, free bool) bool {
	if a.turn == nil {
		return free
	}
	now, again := a.turn.come(info, free)
	a.poll = backoff{waits: again}
	return now
}

// freeNow is for those who do not wait. A lease that has just become free is
// asked for once more, and so is that of a dead holder, who is in nobody's way.
func (a *acquisition) freeNow(ctx context.Context) error {
	info, err := a.look(ctx)
	if err != nil {
		return a.held(store.LeaseInfo{})
	}
	if again := !a.asked && (!info.Lease.State.Locked() || a.breakDead(ctx, info)); again {
		a.asked = true
		return nil
	}
	return a.held(info.Lease)
}

// staleLook is for how long it counts that a lease was held at the last look, as
// long as nothing was written: what passes by itself, or with the holder, is seen
// that much later.
const staleLook = 50 * time.Millisecond

// still reports whether the lease is held as it was at the last look, which costs
// much less to see than how it is held.
func (a *acquisition) still(ctx context.Context) bool {
	if a.s.versions == nil {
		return false
	}
	version, err := a.s.versions.Version(ctx)
	still := err == nil && a.locked && version == a.version && time.Since(a.looked) < staleLook
	if !still {
		a.version, a.looked = version, time.Now()
	}
	return still
}

func (a *acquisition) look(ctx context.Context) (*store.Info, error) {
	a.polls++
	ctx, cancel := context.WithTimeout(ctx, a.terms.try)
	defer cancel()
	info, err := a.s.st.Stat(ctx, a.blob, nil)
	a.locked = err == nil && info.Lease.State.Locked()
	if a.locked {
		a.tell(info.Lease)
	}
	return info, err
}

// longWait is when a wait for a lease is worth a word to the operator: whoever
// edits is done long before.
const longWait = 10 * time.Second

func (a *acquisition) tell(l store.LeaseInfo) {
	if a.seen != nil {
		a.seen(l)
	}
	if !a.warned && time.Since(a.began) >= longWait {
		a.warned = true
		a.s.set.logger.Warn("still waiting", "err", a.held(l))
	}
}

// breakDead breaks the lease of a holder that has died on this machine. It names
// the holder, so that a store that keeps holders can refuse if the lease has
// passed on since the look.
func (a *acquisition) breakDead(ctx context.Context, info *store.Info) bool {
	holder := info.Lease.Holder
	if !a.s.procs.dead(holder) {
		return false
	}
	a.s.set.logger.WarnContext(ctx, "breaking the lease of a dead process", "blob", a.blob, "pid", holder.PID)
	_, err := a.s.lease(ctx, a.blob, a.terms.try, &store.LeaseRequest{Action: store.LeaseBreak, Holder: holder})
	return err == nil
}

// pause sleeps, but not beyond the time that we are to wait.
func (a *acquisition) pause(ctx context.Context) error {
	d := a.poll.next()
	if a.wait > 0 {
		left := a.wait - time.Since(a.began)
		if left <= 0 {
			return a.freeNow(ctx)
		}
		d = min(d, left)
	}
	if sleep(ctx, d) != nil {
		return a.ended(ctx)
	}
	return nil
}

func (a *acquisition) held(l store.LeaseInfo) error {
	return &HeldError{Blob: a.blob, Lease: l, Polls: a.polls, Waited: time.Since(a.began)}
}

func (a *acquisition) ended(ctx context.Context) error {
	return fmt.Errorf("acquire the lease of %s: %w", blobName(a.blob), context.Cause(ctx))
}

// abandon releases what an acquire without an answer may have got. What it cannot
// release runs out by itself.
func (a *acquisition) abandon(ctx context.Context) {
	if !a.unsure {
		return
	}
	if err := a.s.release(ctx, a.blob, a.id, a.terms.try, 1); err != nil {
		a.s.set.logger.WarnContext(ctx, "a lease may have been left behind", "blob", a.blob, "lease", a.id, "err", err)
	}
}
