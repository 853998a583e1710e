package scope

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store"
)

// HoldOptions say how a lease is got; nil means the defaults.
type HoldOptions struct {
	// Duration of the lease without a renewal, in whole seconds from 15 s to 60 s.
	// Default: that of the scope. store.LeaseInfinite must be asked for here; such
	// a lease outlives its holder until somebody breaks it.
	Duration time.Duration
	// Wait is how long to wait for a lease that is held; 0: not at all.
	Wait time.Duration
	// WaitForever waits until the context ends.
	WaitForever bool
	// Create makes an empty blob if there is none.
	Create bool
	// ID is a GUID to acquire the lease with. Default, and best: a fresh one. A
	// store takes a second acquire with the same ID for a repetition of the first.
	ID string
	// LeaseID adopts a lease by its ID, held or expired, by one renewal, which
	// succeeds only if nobody else has changed or leased the blob since. How long
	// it was acquired for cannot be seen; it is trusted for 15 s at a time, which
	// every lease lasts. All other options are of no meaning then.
	LeaseID string
}

// Hold gets the lease of a blob, or of the container if blob is empty, and keeps
// it until it is released. It does not wait for a lease that is held, unless the
// options say so, and returns a *HeldError, which matches store.ErrLeaseHeld. ctx
// is for the acquisition; the lease outlives it.
func (s *Scope) Hold(ctx context.Context, blob string, o *HoldOptions) (*Lease, error) {
	if o == nil {
		o = &HoldOptions{}
	}
	ctx, cancel := s.whileOpen(ctx)
	defer cancel()
	if o.LeaseID != "" {
		return s.adopt(ctx, blob, strings.ToLower(o.LeaseID))
	}
	return s.acquisition(blob, o).run(ctx)
}

func (s *Scope) acquisition(blob string, o *HoldOptions) *acquisition {
	t := s.set.terms
	if o.Duration != 0 && o.Duration != t.duration {
		t = newTerms(o.Duration, 0, 0)
		t.infinite = o.Duration == store.LeaseInfinite
	}
	a := &acquisition{s: s, blob: blob, id: strings.ToLower(o.ID), terms: t, wait: max(0, o.Wait), create: o.Create}
	if a.id == "" {
		a.id = uuid.NewString()
	}
	if o.WaitForever {
		a.wait = waitForever
	}
	return a
}

// adopt takes over the lease id by a renewal, which shows that it is still there.
func (s *Scope) adopt(ctx context.Context, blob, id string) (*Lease, error) {
	t := newTerms(store.MinLease, 0, 0)
	began, tries := time.Now(), 0
	var start instant
	var result *store.LeaseResult
	err := s.insist(ctx, t.try, func(ctx context.Context) (err error) {
		tries++
		start = s.clock.instant()
		result, err = s.st.Lease(ctx, blob, &store.LeaseRequest{Action: store.LeaseRenew, ID: id})
		return err
	})
	if err != nil {
		return nil, &Error{"adopt the lease of", blob, err}
	}
	l := s.newLease(ctx, blob, id, t, start)
	l.etag, l.polls, l.waited = result.ETag, tries, time.Since(began)
	if err := s.keep(l); err != nil {
		return nil, err
	}
	return l, nil
}

// insist does a request again for as long as the store has trouble with it and it
// is worth waiting for. Only requests that may be carried out twice are for it.
func (s *Scope) insist(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	retry := backoff{waits: s.set.retry}
	for began := time.Now(); ; {
		err := within(ctx, timeout, f)
		if err == nil || !passing(err) || time.Since(began) >= s.set.giveUp {
			return err
		}
		if cause := sleep(ctx, retry.next()); cause != nil {
			return endedBy(cause, err)
		}
	}
}

func within(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return f(ctx)
}

// makeEmpty makes an empty blob where there is none. That it is there by now is
// as good, even if it is leased already.
func (s *Scope) makeEmpty(ctx context.Context, blob string) error {
	err := s.insist(ctx, s.set.call, func(ctx context.Context) error {
		_, err := s.st.Put(ctx, blob, nil, &store.PutOptions{Conditions: store.Conditions{IfNoneMatch: store.AnyETag}})
		return err
	})
	if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrLeaseMissing) {
		return nil
	}
	return &Error{"create", blob, err}
}
