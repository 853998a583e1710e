package rules

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// CheckWrite decides whether a write that names the lease id ("" for none) may
// happen to something with this lease, and returns the lease that it has
// afterwards: an ended one is gone with the first write, so that its last
// holder can see that the content is no longer its own.
func (l Lease) CheckWrite(kind Kind, id string, now time.Time) (Lease, error) {
	if id != "" {
		return l, l.checkID(kind, id, now)
	}
	if l.State(now).Locked() {
		return l, Refuse("LeaseIdMissing", "")
	}
	return Lease{}, nil
}

// CheckRead decides whether a read that names the lease id may happen; one that
// names none always may.
func (l Lease) CheckRead(kind Kind, id string, now time.Time) error {
	if id == "" {
		return nil
	}
	return l.checkID(kind, id, now)
}

func (l Lease) checkID(kind Kind, id string, now time.Time) error {
	switch state := l.State(now); {
	case state == store.LeaseAvailable:
		return Refuse("LeaseNotPresentWith"+string(kind)+"Operation", "")
	case l.ID != id:
		return Refuse("LeaseIdMismatchWith"+string(kind)+"Operation", "")
	case !state.Locked():
		return Refuse("LeaseLost", "")
	}
	return nil
}
