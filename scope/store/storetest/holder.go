package storetest

import (
	"errors"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func holderChecks() []check {
	return []check{{key: "holder/a break that names one breaks no other's lease", run: breakOfHolder}}
}

// breakOfHolder is two waiters that saw the same dead holder: the second must not
// break the lease that the first one got.
func breakOfHolder(t *testing.T, s store.Store) {
	if !store.IsLocal(s) {
		return // only local stores keep holders
	}
	mustPut(t, s, "a", "", nil)
	dead, next := &store.Holder{Host: "h", PID: 1}, &store.Holder{Host: "h", PID: 2}
	acquire := func(h *store.Holder) {
		t.Helper()
		_, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease, Holder: h})
		if err != nil {
			t.Fatal(err)
		}
	}
	breakLease := func(h *store.Holder) error {
		_, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseBreak, Holder: h})
		return err
	}
	acquire(dead)
	if err := breakLease(dead); err != nil {
		t.Errorf("break of the holder's own lease = %v", err)
	}
	acquire(next)
	if err := breakLease(dead); !errors.Is(err, store.ErrLeaseHeld) {
		t.Errorf("break of a lease that has passed on = %v, want ErrLeaseHeld", err)
	}
	if state := mustStat(t, s, "a").Lease.State; state != store.LeaseLeased {
		t.Errorf("the next holder's lease is %s, want leased", state)
	}
}
