package rules

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Lease is what a store keeps of a lease; the zero value is none.
//
// The state is not kept: it follows from the two times and the present one, so
// that a lease ends without anyone writing.
type Lease struct {
	// ID is the canonical GUID; empty if the lease is available. It outlives the
	// lease until the blob is modified or leased again, so that its last holder
	// can still renew or release it.
	ID string
	// Duration is what a renewal grants again; store.LeaseInfinite for ever.
	Duration time.Duration
	// Ends is when the lease expires; zero if it is infinite.
	Ends time.Time
	// Breaks is when the lock of a broken lease ends; zero if it was not broken.
	Breaks time.Time
	// Holder is who acquired it; may be nil.
	Holder *store.Holder
}

// State is the state of the lease at the time now.
func (l Lease) State(now time.Time) store.LeaseState {
	switch {
	case l.ID == "":
		return store.LeaseAvailable
	case !l.Breaks.IsZero() && now.Before(l.Breaks):
		return store.LeaseBreaking
	case !l.Breaks.IsZero():
		return store.LeaseBroken
	case l.Ends.IsZero() || now.Before(l.Ends):
		return store.LeaseLeased
	default:
		return store.LeaseExpired
	}
}

// Infinite tells a lease that never expires by itself.
func (l Lease) Infinite() bool { return l.ID != "" && l.Duration == store.LeaseInfinite }

// Info is what can be seen of the lease at the time now.
func (l Lease) Info(now time.Time) store.LeaseInfo {
	info := store.LeaseInfo{State: l.State(now)}
	switch info.State {
	case store.LeaseLeased:
		info.Infinite, info.Expires = l.Infinite(), l.Ends
	case store.LeaseBreaking:
		info.Expires = l.Breaks
	}
	if l.Holder != nil {
		info.Holder = new(*l.Holder)
	}
	if !info.Expires.IsZero() {
		info.Expires = info.Expires.UTC()
	}
	return info
}

// until is the end of a term of d that begins now.
func until(now time.Time, d time.Duration) time.Time {
	if d == store.LeaseInfinite {
		return time.Time{}
	}
	return now.Add(d)
}

// Kind is what a lease is on; the codes of some refusals name it.
type Kind string

const (
	OnBlob      Kind = "Blob"
	OnContainer Kind = "Container"
)

// KindOf tells what a name stands for: the empty one is the container.
func KindOf(name string) Kind {
	if name == "" {
		return OnContainer
	}
	return OnBlob
}
