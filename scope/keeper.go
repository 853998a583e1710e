package scope

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leasestream/leasestream/scope/store"
)

// Keeper holds the leases of many blobs and keeps them for long work. It may be
// used concurrently.
type Keeper struct {
	s *Scope
	o HoldOptions

	mu     sync.Mutex // guards the fields below
	closed bool
	leases map[string]*kept
}

// kept is a lease, or one that is being acquired.
type kept struct {
	ready chan struct{} // closed when the fields below are set
	lease *Lease        // nil if it was not to be had
	err   error
}

// NewKeeper makes a keeper whose leases are got with o.
func (s *Scope) NewKeeper(o *HoldOptions) *Keeper {
	k := &Keeper{s: s, leases: map[string]*kept{}}
	if o != nil {
		k.o = *o
	}
	return k
}

// Try acquires the lease of a blob unless the keeper has it, and reports whether
// it has it now. That someone else holds it is no error. A lease that was lost is
// acquired anew, with another ID.
func (k *Keeper) Try(ctx context.Context, blob string) (bool, error) {
	return k.get(ctx, blob, k.o)
}

// Adopt takes over the lease of a blob by its ID, for instance after a restart.
// See HoldOptions.LeaseID.
func (k *Keeper) Adopt(ctx context.Context, blob, id string) error {
	_, err := k.get(ctx, blob, HoldOptions{LeaseID: id})
	return err
}

func (k *Keeper) get(ctx context.Context, blob string, o HoldOptions) (bool, error) {
	for {
		e, mine, err := k.enter(blob)
		if err != nil {
			return false, err
		}
		if mine {
			e.lease, e.err = k.s.Hold(ctx, blob, &o)
			k.settle(ctx, blob, e)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		switch {
		case mine && errors.Is(e.err, store.ErrLeaseHeld):
			return false, nil
		case mine:
			return e.err == nil, e.err
		case e.lease != nil && e.lease.Err() == nil:
			return true, nil
		}
		k.remove(blob, e)
	}
}

// enter returns what the keeper has for a blob; mine tells that it had nothing
// and the caller is to acquire it.
func (k *Keeper) enter(blob string) (e *kept, mine bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, false, fmt.Errorf("keeper: %w", ErrClosed)
	}
	if e = k.leases[blob]; e != nil {
		return e, false, nil
	}
	e = &kept{ready: make(chan struct{})}
	k.leases[blob] = e
	return e, true, nil
}

// settle makes known what an acquisition brought.
func (k *Keeper) settle(ctx context.Context, blob string, e *kept) {
	k.mu.Lock()
	late := k.closed && e.lease != nil
	if e.lease == nil {
		delete(k.leases, blob)
	}
	k.mu.Unlock()
	if late {
		e.err = errors.Join(fmt.Errorf("keeper: %w", ErrClosed), e.lease.Release(ctx))
		e.lease = nil
	}
	close(e.ready)
}

func (k *Keeper) remove(blob string, e *kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leases[blob] == e {
		delete(k.leases, blob)
	}
}

// Lease returns the lease of a blob, or nil if the keeper has none or has lost it.
func (k *Keeper) Lease(blob string) *Lease {
	k.mu.Lock()
	e := k.leases[blob]
	k.mu.Unlock()
	if e == nil {
		return nil
	}
	select {
	case <-e.ready:
	default:
		return nil
	}
	if e.lease == nil || e.lease.Err() != nil {
		return nil
	}
	return e.lease
}

// Has reports whether the keeper has the lease of a blob.
func (k *Keeper) Has(blob string) bool { return k.Lease(blob) != nil }

// ID is the ID of the lease of a blob; "" if the keeper does not have it.
func (k *Keeper) ID(blob string) string {
	if l := k.Lease(blob); l != nil {
		return l.ID()
	}
	return ""
}

// Release gives the lease of a blob back. It is no error if the keeper has none.
func (k *Keeper) Release(ctx context.Context, blob string) error {
	k.mu.Lock()
	e := k.leases[blob]
	k.mu.Unlock()
	if e == nil {
		return nil
	}
	<-e.ready
	k.remove(blob, e)
	if e.lease == nil {
		return nil
	}
	return e.lease.Release(ctx)
}

// Close gives all leases back. The keeper takes no more.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	leases := k.leases
	k.leases = map[string]*kept{}
	k.mu.Unlock()
	var errs []error
	for _, e := range leases {
		<-e.ready
		if e.lease != nil {
			errs = append(errs, e.lease.Release(context.Background()))
		}
	}
	return errors.Join(errs...)
}
