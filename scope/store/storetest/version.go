package storetest

import (
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func versionChecks() []check {
	return []check{{key: "version/another one after each change", run: versionChanges}}
}

// versionChanges holds a store that offers versions to what it promises.
func versionChanges(t *testing.T, s store.Store) {
	v, ok := s.(store.Versioner)
	if !ok {
		return
	}
	version := func() uint64 {
		n, err := v.Version(t.Context())
		if err != nil {
			t.Fatalf("Version() = %v", err)
		}
		return n
	}
	last := version()
	if again := version(); again != last {
		t.Errorf("Version() = %d, then %d, though nothing was written", last, again)
	}
	changed := func(by string) {
		t.Helper()
		now := version()
		if now == last {
			t.Errorf("Version() = %d before and after a %s", now, by)
		}
		last = now
	}
	mustPut(t, s, "a", "1", nil)
	changed("put")
	mustPut(t, s, "a", "2", nil)
	changed("put over a blob")
	lease, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
	if err != nil {
		t.Fatal(err)
	}
	changed("acquire")
	if _, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseRelease, ID: lease.ID}); err != nil {
		t.Fatal(err)
	}
	changed("release")
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	changed("delete")
}
