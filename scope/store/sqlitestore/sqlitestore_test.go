package sqlitestore_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

var harness = storetest.Harness{
	Open: func(t testing.TB) store.Store {
		return open(t, filepath.Join(t.TempDir(), "store.db"), nil)
	},
	FakeTime: true,
}

func open(t testing.TB, path string, o *sqlitestore.Options) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

// create opens a store with its container.
func create(t testing.TB, path string) *sqlitestore.Store {
	t.Helper()
	s := open(t, path, nil)
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s store.Store, name, body string) {
	t.Helper()
	if _, err := s.Put(t.Context(), name, []byte(body), nil); err != nil {
		t.Fatal(err)
	}
}

func body(t testing.TB, s store.Store, name string) string {
	t.Helper()
	object, err := s.Get(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(object.Body)
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness)
}

func BenchmarkStore(b *testing.B) { storetest.RunBenchmarks(b, harness) }

// TestStore_TwoHandles runs the suite with each call on the other one of two
// stores over one file: nothing may be known to one of them only.
func TestStore_TwoHandles(t *testing.T) {
	t.Parallel()
	h := harness
	h.Open = func(t testing.TB) store.Store {
		path := filepath.Join(t.TempDir(), "store.db")
		return &alternating{stores: [2]store.Store{open(t, path, nil), open(t, path, nil)}}
	}
	storetest.Run(t, h)
}

// alternating is two stores that take turns.
type alternating struct {
	stores [2]store.Store
	calls  atomic.Uint32
}

func (a *alternating) next() store.Store { return a.stores[a.calls.Add(1)%2] }

func (a *alternating) Local() bool  { return true }
func (a *alternating) Close() error { return errors.Join(a.stores[0].Close(), a.stores[1].Close()) }

func (a *alternating) Create(ctx context.Context) error { return a.next().Create(ctx) }

func (a *alternating) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	return a.next().Get(ctx, name, c)
}

func (a *alternating) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	return a.next().Put(ctx, name, body, o)
}

func (a *alternating) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	return a.next().Stat(ctx, name, c)
}

func (a *alternating) Delete(ctx context.Context, name string, c *store.Conditions) error {
	return a.next().Delete(ctx, name, c)
}

func (a *alternating) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return a.next().List(ctx, prefix)
}

func (a *alternating) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	return a.next().Lease(ctx, name, r)
}

func TestStore_LeaseSurvivesReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		put(t, s, "a", "")
		for name, d := range map[string]time.Duration{"a": store.MinLease, "": store.LeaseInfinite} {
			if _, err := s.Lease(t.Context(), name, &store.LeaseRequest{Action: store.LeaseAcquire, ID: fixedID, Duration: d}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		s = open(t, path, nil)
		for _, name := range []string{"a", ""} {
			if _, err := s.Stat(t.Context(), name, &store.Conditions{LeaseID: fixedID}); err != nil {
				t.Errorf("Stat(%q) under the lease, in a store opened again = %v", name, err)
			}
		}
		time.Sleep(5 * time.Second)
		info, err := s.Stat(t.Context(), "a", nil)
		if err != nil || info.Lease.State != store.LeaseExpired {
			t.Errorf("Stat() after the duration = %+v, %v, want an expired lease", info, err)
		}
	})
}

func TestStore_MaxBody(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"), &sqlitestore.Options{MaxBody: 3})
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "abc")
	_, err := s.Put(t.Context(), "a", []byte("abcd"), nil)
	if !errors.Is(err, store.ErrTooLarge) || store.Code(err) != "RequestBodyTooLarge" {
		t.Errorf("Put() over MaxBody = %v, want %v", err, store.ErrTooLarge)
	}
	if got := body(t, s, "a"); got != "abc" {
		t.Errorf("Get() = %q after a refused Put, want abc", got)
	}
}

func TestStore_UseAfterClose(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, put := s.Put(t.Context(), "a", nil, nil)
	_, get := s.Get(t.Context(), "a", nil)
	if put == nil || get == nil {
		t.Errorf("Put() and Get() after Close() = %v and %v, want errors", put, get)
	}
}
