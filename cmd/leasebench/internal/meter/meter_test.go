package meter_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/meter"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// allRequests makes one request of each kind, of which one is refused.
func allRequests(t *testing.T, st store.Store) {
	t.Helper()
	ctx := t.Context()
	lease := &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease}
	created := st.Create(ctx)
	_, put := st.Put(ctx, "a/1", make([]byte, 100), nil)
	_, other := st.Put(ctx, "b/1", make([]byte, 10), nil)
	_, got := st.Get(ctx, "a/1", nil)
	_, stat := st.Stat(ctx, "a/1", nil)
	_, leased := st.Lease(ctx, "b/1", lease)
	for i, err := range []error{created, put, other, got, stat, leased, st.Delete(ctx, "a/1", nil)} {
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	for _, err := range st.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Put(ctx, "b/1", make([]byte, 1000), nil); err == nil {
		t.Fatal("a write to a leased blob was taken")
	}
}

func TestMeter(t *testing.T) {
	m := meter.Meter{Prefix: "a/"}
	for range 2 { // two stores, one meter
		allRequests(t, m.Wrap(memstore.New(nil)))
	}
	got := m.Counts()
	if got.Requests != 18 || got.Written != 220 || got.Read != 200 || !slices.Equal(got.Puts, []meter.Put{{"a/1", 100, 100}, {"a/1", 100, 100}}) {
		t.Errorf("Counts() = %+v, want 18 requests, 220 bytes written, 200 read, two puts of 100", got)
	}
}

// Of a body in pieces it is known how much is new.
func TestMeter_Pieces(t *testing.T) {
	m := meter.Meter{Prefix: "a/"}
	st := m.Wrap(memstore.New(nil))
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	pieces := []string{"<a>", "<b/>", "</a>"}
	_, had, err := store.PutPieces(t.Context(), st, "a/1", pieces, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pieces[1] = "<changed/>"
	if _, _, err := store.PutPieces(t.Context(), st, "a/1", pieces, had, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.GetPieces(t.Context(), st, "a/1", had, nil); err != nil {
		t.Fatal(err)
	}
	got := m.Counts()
	if want := []meter.Put{{"a/1", 11, 11}, {"a/1", 17, 10}}; got.Requests != 4 || got.Written != 28 || got.Read != 17 || !slices.Equal(got.Puts, want) {
		t.Errorf("Counts() = %+v, want 4 requests, 28 bytes written, 17 read, puts %v", got, want)
	}
}

func TestMeter_KeepsWhatTheStoreOffers(t *testing.T) {
	sqlite, err := sqlitestore.Open(filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sqlite.Close()
	var m meter.Meter
	wrapped := m.Wrap(sqlite)
	if !store.IsLocal(wrapped) {
		t.Error("IsLocal() = false for a local store")
	}
	v, ok := wrapped.(store.Versioner)
	if !ok {
		t.Fatal("the store does not tell its version any more")
	}
	if _, err := v.Version(t.Context()); err != nil || m.Counts().Requests != 0 {
		t.Errorf("Version() = %v and counts as %d requests", err, m.Counts().Requests)
	}
	if _, ok := m.Wrap(remote{}).(store.Versioner); ok || store.IsLocal(m.Wrap(remote{})) {
		t.Error("a remote store became a local one")
	}
}

// remote is a store that is neither local nor tells a version.
type remote struct{ store.Store }

func (remote) Create(context.Context) error { return nil }
