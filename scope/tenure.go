package scope

import (
	"context"
	"time"
)

// tenure is the right to write a blob for a while: a lease, or, in the optimistic
// strategy, nothing but the ETag.
type tenure struct {
	l     *line
	lease *Lease        // nil in the optimistic strategy, and while there is none
	etag  string        // of the blob, as the lease or our own last request has it
	since time.Time     // it is ours, and the document was read
	load  time.Duration // what it took to read the document; 0 if it was in memory

	locked bool // in the optimistic strategy: someone has leased the blob
}

// ensure sees that there is a lease that is still ours.
func (t *tenure) ensure() error {
	if t.l.s.set.strategy == Optimistic {
		if t.since.IsZero() {
			t.since = time.Now()
		}
		return nil
	}
	if t.lease != nil && t.lease.Err() == nil {
		return nil
	}
	t.end()
	lease, err := t.l.acquire()
	if err != nil {
		return err
	}
	t.lease, t.etag, t.since, t.load = lease, lease.etag, time.Now(), 0
	return nil
}

// id is the lease ID for a request.
func (t *tenure) id() string {
	if t.lease == nil {
		return ""
	}
	return t.lease.id
}

// loaded notes that the document has been read, which began at some time. The time
// of the lease counts from here, but not anew if it has to be read again.
func (t *tenure) loaded(began time.Time) {
	if t.load == 0 {
		t.since = time.Now()
		t.load = t.since.Sub(began)
	}
}

// lost reports whether the lease may not be ours any more, by the clock.
func (t *tenure) lost() bool { return t.lease != nil && t.lease.Err() != nil }

// lose takes in that the store says that the lease is not ours.
func (t *tenure) lose(err error) {
	if t.lease != nil {
		t.lease.lose(err)
	} else {
		t.locked = true
	}
}

// waitUnlocked waits until a blob that someone else has leased may be written
// without one. An error says that nobody waits any more, or the scope is closed.
func (t *tenure) waitUnlocked() error {
	if !t.locked {
		return nil
	}
	t.locked = false
	return t.l.whileAwaited(func(ctx context.Context, a *acquisition) error {
		a.begin()
		return a.waitFree(ctx)
	})
}

func (t *tenure) end() {
	if t.lease == nil {
		return
	}
	if err := t.lease.Release(context.Background()); err != nil {
		t.l.s.set.logger.Warn("lease not released", "blob", t.l.blob, "lease", t.lease.id, "err", err)
	}
	t.lease = nil
}

func (t *tenure) polls() int {
	if t.lease == nil {
		return 0
	}
	return t.lease.polls
}
