package rules

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Operate returns the lease that r makes of l at the time now. The request must
// have passed [NormalizeLease]. A refused operation changes nothing.
func (l Lease) Operate(r *store.LeaseRequest, now time.Time) (Lease, error) {
	switch r.Action {
	case store.LeaseAcquire:
		return l.acquire(r, now)
	case store.LeaseRenew:
		return l.renew(r.ID, now)
	case store.LeaseChange:
		return l.change(r.ID, r.NewID, now)
	case store.LeaseRelease:
		return l.release(r.ID)
	default:
		if r.Holder != nil && !l.heldBy(r.Holder) {
			return l, Refuse("LeaseAlreadyPresent", "it has passed on to another holder")
		}
		return l.breakUp(r.BreakPeriod, now)
	}
}

func (l Lease) heldBy(h *store.Holder) bool { return l.Holder != nil && *l.Holder == *h }

func (l Lease) acquire(r *store.LeaseRequest, now time.Time) (Lease, error) {
	state := l.State(now)
	switch {
	case state.Locked() && l.ID != r.ID:
		return l, Refuse("LeaseAlreadyPresent", "")
	case state == store.LeaseBreaking:
		return l, Refuse("LeaseIsBreakingAndCannotBeAcquired", "")
	}
	taken := Lease{ID: r.ID, Duration: r.Duration, Ends: until(now, r.Duration), Holder: r.Holder}
	return taken, nil
}

// renew revives an expired lease too: its ID is still there only if nobody has
// modified or leased the blob since.
func (l Lease) renew(id string, now time.Time) (Lease, error) {
	switch {
	case l.ID != id:
		return l, Refuse("LeaseIdMismatchWithLeaseOperation", "")
	case !l.Breaks.IsZero():
		return l, Refuse("LeaseIsBrokenAndCannotBeRenewed", "")
	}
	l.Ends = until(now, l.Duration)
	return l, nil
}

// change may be repeated after a lost answer: it succeeds if the lease has the
// new ID already.
func (l Lease) change(id, newID string, now time.Time) (Lease, error) {
	switch state := l.State(now); {
	case !state.Locked():
		return l, Refuse("LeaseNotPresentWithLeaseOperation", "")
	case state == store.LeaseBreaking && l.ID == id:
		return l, Refuse("LeaseIsBreakingAndCannotBeChanged", "")
	case state == store.LeaseBreaking || l.ID != id && l.ID != newID:
		return l, Refuse("LeaseIdMismatchWithLeaseOperation", "")
	}
	l.ID = newID
	return l, nil
}

func (l Lease) release(id string) (Lease, error) {
	if l.ID != id {
		return l, Refuse("LeaseIdMismatchWithLeaseOperation", "")
	}
	return Lease{}, nil
}

func (l Lease) breakUp(period time.Duration, now time.Time) (Lease, error) {
	switch l.State(now) {
	case store.LeaseAvailable:
		return l, Refuse("LeaseNotPresentWithLeaseOperation", "")
	case store.LeaseLeased:
		l.Breaks = breakEnd(l.Ends, period, now)
	case store.LeaseBreaking:
		l.Breaks = breakEnd(l.Breaks, period, now)
	case store.LeaseExpired:
		l.Breaks = now
	}
	return l, nil
}

// breakEnd is when a lock that would last until end (zero for ever) ends if it
// is broken with this period: a break never makes it longer.
func breakEnd(end time.Time, period time.Duration, now time.Time) time.Time {
	asked := now.Add(period)
	switch {
	case end.IsZero() && period == store.BreakNaturally:
		return now
	case end.IsZero():
		return asked
	case period == store.BreakNaturally || end.Before(asked):
		return end
	}
	return asked
}
