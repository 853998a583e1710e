package scope

import (
	"cmp"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// terms are the times of one lease.
type terms struct {
	duration time.Duration // store.LeaseInfinite: no end
	every    time.Duration // from one renewal to the next
	margin   time.Duration // how much earlier than the store we take it for lost
	try      time.Duration // of one lease operation
	infinite bool          // no end is what was asked for, for this one lease
}

const (
	minMargin = 2 * time.Second
	maxTry    = 5 * time.Second
)

// newTerms fills in what is zero. An infinite lease is renewed like one of the
// longest duration, since that shows whether it was broken.
func newTerms(duration, every, margin time.Duration) terms {
	finite := duration
	if duration == store.LeaseInfinite {
		finite = store.MaxLease
	}
	return terms{
		duration: duration,
		every:    cmp.Or(every, finite/3),
		margin:   cmp.Or(margin, max(minMargin, finite/5)),
		try:      min(maxTry, finite/6),
	}
}

// check refuses times that cannot hold, before the store is asked for anything.
func (t terms) check() error {
	d := t.duration
	if d == store.LeaseInfinite && t.infinite {
		return nil
	}
	var problem string
	switch {
	case d < store.MinLease || d > store.MaxLease || d%time.Second != 0:
		problem = fmt.Sprintf("a lease lasts whole seconds from %v to %v, not %v", store.MinLease, store.MaxLease, d)
	case t.every <= 0 || t.every >= d/2:
		problem = fmt.Sprintf("a lease of %v that is renewed every %v is lost with the first failed renewal: renew before %v", d, t.every, d/2)
	case t.margin < t.try:
		problem = fmt.Sprintf("a margin of %v is shorter than the %v that one lease operation may take", t.margin, t.try)
	case t.every+t.try > d-t.margin:
		problem = fmt.Sprintf("a lease of %v with a margin of %v is trusted for %v, too short for a renewal after %v that may take %v",
			d, t.margin, d-t.margin, t.every, t.try)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", store.ErrInvalid, problem)
}

// trust is until when a lease is trusted that was granted by a request sent at
// start. A slow answer cannot stretch it.
func (t terms) trust(start instant) instant {
	if t.duration == store.LeaseInfinite {
		return start.add(forever)
	}
	return start.add(t.duration - t.margin)
}

// forever is longer than any process lives, and far from overflow.
const forever = 100 * 365 * 24 * time.Hour
