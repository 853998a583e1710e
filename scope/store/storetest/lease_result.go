package storetest

import (
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func leaseChecks() []check {
	return []check{
		{key: "lease/result", run: leaseResult},
		{key: "lease/info", run: leaseInfo},
		{key: "lease/holder", run: leaseHolder},
		{key: "lease/touches nothing else", run: leaseTouchesNothing},
	}
}

func leaseResult(t *testing.T, s store.Store) {
	put := mustPut(t, s, "a", "", nil)
	do := func(r store.LeaseRequest, wantID string) string {
		t.Helper()
		got, err := s.Lease(t.Context(), "a", &r)
		if err != nil {
			t.Fatalf("%s = %v", r.Action, err)
		}
		if wantID != "?" && got.ID != wantID {
			t.Errorf("%s returns ID %q, want %q", r.Action, got.ID, wantID)
		}
		if got.ETag != put.ETag || !got.LastModified.Equal(put.LastModified) {
			t.Errorf("%s returns %s of %v, want %s of %v", r.Action, got.ETag, got.LastModified, put.ETag, put.LastModified)
		}
		return got.ID
	}
	first := do(acquire("", store.MinLease), "?")
	do(renew(first), first)
	do(change(first, idB), idB)
	do(release(idB), "")
	if second := do(acquire("", store.MinLease), "?"); second == first || len(second) != len(idA) {
		t.Errorf("acquire without an ID made %q after %q, want a GUID that is new", second, first)
	}
	do(breakAfter(0), "")
}

func leaseInfo(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	see := func(r store.LeaseRequest, want store.LeaseInfo) {
		t.Helper()
		result, err := s.Lease(t.Context(), "a", &r)
		if err != nil {
			t.Fatalf("%s = %v", r.Action, err)
		}
		got := mustStat(t, s, "a").Lease
		if got.State != want.State || want.State == store.LeaseLeased && got.Infinite != want.Infinite {
			t.Errorf("after %s: lease %+v, want %+v", r.Action, got, want)
		}
		ends := !got.Expires.IsZero()
		if wantEnd := got.State.Locked() && !got.Infinite; store.IsLocal(s) && ends != wantEnd {
			t.Errorf("after %s: lease %+v, want an end: %t", r.Action, got, wantEnd)
		}
		if ends && !got.Expires.After(result.Date.Time) {
			t.Errorf("after %s: lease %+v ended before %v", r.Action, got, result.Date.Time)
		}
	}
	see(acquire(idA, store.MinLease), store.LeaseInfo{State: store.LeaseLeased})
	see(acquire(idA, store.LeaseInfinite), store.LeaseInfo{State: store.LeaseLeased, Infinite: true})
	see(breakAfter(store.MinLease), store.LeaseInfo{State: store.LeaseBreaking})
	see(breakAfter(0), store.LeaseInfo{State: store.LeaseBroken})
	see(acquire(idB, store.MinLease), store.LeaseInfo{State: store.LeaseLeased})
	see(release(idB), store.LeaseInfo{State: store.LeaseAvailable})
}

// leaseHolder is about local stores; a service shows no holder.
func leaseHolder(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	want := store.Holder{Host: "host1", BootID: "b", PIDNS: "4026531836", PID: 4711, Started: "123456"}
	lease := acquire(idA, store.MinLease)
	lease.Holder = new(want)
	if _, err := s.Lease(t.Context(), "a", &lease); err != nil {
		t.Fatal(err)
	}
	lease.Holder.PID = 0 // the caller's own memory
	for _, r := range []store.LeaseRequest{renew(idA), change(idA, idB), breakAfter(store.MinLease)} {
		if _, err := s.Lease(t.Context(), "a", &r); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, "a", "", &store.PutOptions{Conditions: store.Conditions{LeaseID: lastID(r, idB)}})
		if got := mustStat(t, s, "a").Lease.Holder; store.IsLocal(s) && (got == nil || *got != want) {
			t.Errorf("after %s and a write: holder %+v, want %+v", r.Action, got, want)
		} else if !store.IsLocal(s) && got != nil {
			t.Errorf("holder %+v of a service that keeps none", got)
		}
	}
}

// lastID is the ID of the lease after r, or after the requests before it.
func lastID(r store.LeaseRequest, before string) string {
	if r.Action == store.LeaseRenew {
		return r.ID
	}
	return before
}

func leaseTouchesNothing(t *testing.T, s store.Store) {
	want := mustPut(t, s, "a", "body", &store.PutOptions{Metadata: map[string]string{"k": "v"}})
	for _, r := range []store.LeaseRequest{
		acquire(idA, store.MinLease), renew(idA), change(idA, idB), release(idB),
		acquire(idA, store.LeaseInfinite), breakAfter(0),
	} {
		if _, err := s.Lease(t.Context(), "a", &r); err != nil {
			t.Fatalf("%s = %v", r.Action, err)
		}
		got := mustGet(t, s, "a")
		sameBlob(t, string(r.Action)+", Get", &got.Info, want, 4)
		if string(got.Body) != "body" || got.Metadata["k"] != "v" {
			t.Errorf("after %s: %q, %v", r.Action, got.Body, got.Metadata)
		}
	}
}
