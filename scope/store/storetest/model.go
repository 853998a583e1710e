package storetest

import (
	"math"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// blobModel is a blob as the interface describes it, without any regard to how a
// store does it: what a history must be explained by. The zero value is one that
// does not exist. Its methods change nothing.
type blobModel struct {
	version int // of its content; 0: there is no blob
	lease   leaseModel
}

// leaseModel is a lease; the zero value is one that is available.
type leaseModel struct {
	id       string // of its last holder
	duration time.Duration
	ends     int64 // when its lock ends
	broken   bool
}

// never is the end of an infinite lease.
const never = math.MaxInt64

func after(now int64, d time.Duration) int64 {
	if d == store.LeaseInfinite {
		return never
	}
	return now + int64(d)
}

func (l leaseModel) locked(now int64) bool { return l.id != "" && now < l.ends }

func (l leaseModel) state(now int64) store.LeaseState {
	locked := l.locked(now)
	switch {
	case l.id == "":
		return store.LeaseAvailable
	case l.broken && locked:
		return store.LeaseBreaking
	case l.broken:
		return store.LeaseBroken
	case locked:
		return store.LeaseLeased
	}
	return store.LeaseExpired
}

// write is the lease after a write; ok tells whether it may be.
func (l leaseModel) write(id string, now int64) (next leaseModel, ok bool) {
	if id == "" {
		return leaseModel{}, !l.locked(now)
	}
	return l, l.locked(now) && l.id == id
}

func (l leaseModel) acquire(id string, d time.Duration, now int64) (next leaseModel, ok bool) {
	if l.locked(now) && (l.id != id || l.broken) {
		return l, false
	}
	return leaseModel{id: id, duration: d, ends: after(now, d)}, true
}

func (l leaseModel) renew(id string, now int64) (next leaseModel, ok bool) {
	if l.id != id || l.broken {
		return l, false
	}
	l.ends = after(now, l.duration)
	return l, true
}

func (l leaseModel) release(id string) (next leaseModel, ok bool) {
	if l.id != id {
		return l, false
	}
	return leaseModel{}, true
}

func (l leaseModel) breakUp(period time.Duration, now int64) (next leaseModel, ok bool) {
	switch {
	case l.id == "":
		return l, false
	case period == store.BreakNaturally && l.ends == never:
		l.ends = now
	case period != store.BreakNaturally:
		l.ends = min(l.ends, now+int64(period))
	}
	l.broken = true
	return l, true
}

// step is the blob after an act; ok tells whether it may be.
func (b blobModel) step(a *move) (next blobModel, ok bool) {
	switch {
	case a.Op == "put":
		return b.put(a)
	case b.version == 0:
		return b, false
	case a.Op == "get":
		return b, true
	case a.Op == "delete":
		_, may := b.lease.write(a.LeaseID, a.At)
		return blobModel{}, may && b.matches(a)
	}
	b.lease, ok = b.lease.operate(a)
	return b, ok
}

func (l leaseModel) operate(a *move) (next leaseModel, ok bool) {
	switch store.LeaseAction(a.Op) {
	case store.LeaseAcquire:
		return l.acquire(a.LeaseID, a.Duration, a.At)
	case store.LeaseRenew:
		return l.renew(a.LeaseID, a.At)
	case store.LeaseRelease:
		return l.release(a.LeaseID)
	default:
		return l.breakUp(a.Duration, a.At)
	}
}

func (b blobModel) put(a *move) (next blobModel, ok bool) {
	if b.version == 0 {
		ok = (a.LeaseID == "" || a.createsUnderLease) && (a.IfMatch == "" || a.IfMatch == store.AnyETag)
		return blobModel{version: a.Version}, ok
	}
	lease, may := b.lease.write(a.LeaseID, a.At)
	return blobModel{version: a.Version, lease: lease}, may && b.matches(a)
}

// matches judges If-Match of a blob that exists.
func (b blobModel) matches(a *move) bool { return a.IfMatch == "" || a.matched == b.version }

// explains reports whether the act may have happened to b, and b afterwards. An
// act whose outcome is unknown may have happened or not, and as late as it likes.
func (b blobModel) explains(a *move) (bool, blobModel) {
	next, ok := b.step(a)
	switch {
	case a.Outcome == Unknown && ok:
		return true, next
	case a.Outcome == Unknown:
		return true, b
	case a.Outcome == Refused:
		return !ok, b
	}
	return ok && b.shows(a, next), next
}

// shows reports whether b is what the answer said. A lease operation tells the
// ETag, by which an editor knows what it has in memory already.
func (b blobModel) shows(a *move, next blobModel) bool {
	switch {
	case a.Op == "get":
		return a.Version == b.version && a.State == b.lease.state(a.At)
	case a.Op == "put" || a.answered == 0:
		return true
	}
	return a.answered == next.version
}
