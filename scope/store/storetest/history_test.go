package storetest_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// faulty is a store with one method that now and then breaks a promise.
type faulty struct {
	store.Store
	get   func(under store.Store, name string) (*store.Object, error)
	put   func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error)
	lease func(under store.Store, name string, r *store.LeaseRequest) (*store.LeaseResult, error)
}

func (f *faulty) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	if f.get == nil {
		return f.Store.Get(ctx, name, c)
	}
	return f.get(f.Store, name)
}

func (f *faulty) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if f.put == nil {
		return f.Store.Put(ctx, name, body, o)
	}
	return f.put(f.Store, name, body, o)
}

func (f *faulty) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	if f.lease == nil {
		return f.Store.Lease(ctx, name, r)
	}
	return f.lease(f.Store, name, r)
}

// everyNth is true for one call in n.
func everyNth(n int) func() bool {
	var mu sync.Mutex
	calls := 0
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls%n == 0
	}
}

// faults are stores that break promises in ways that only many clients notice.
func faults(t *testing.T) map[string]*faulty {
	ctx := t.Context()
	var before sync.Map // name → *store.Object
	loses, swaps, stale, refuses := everyNth(9), everyNth(5), everyNth(7), everyNth(9)
	return map[string]*faulty{
		"a write that is acknowledged is lost": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				if loses() {
					return &store.Info{Name: name, ETag: `"lost ` + string(body) + `"`}, nil
				}
				return under.Put(ctx, name, body, o)
			},
		},
		"a write that is refused is carried out": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				info, err := under.Put(ctx, name, body, o)
				if err == nil && refuses() {
					return nil, &store.Error{Op: "put", Name: name, Sentinel: store.ErrConditionNotMet}
				}
				return info, err
			},
		},
		"If-Match is forgotten": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				loose := *o
				loose.IfMatch = ""
				return under.Put(ctx, name, body, &loose)
			},
		},
		"a write needs no lease": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				info, err := under.Put(ctx, name, body, o)
				if store.Code(err) == "LeaseIdMissing" && swaps() {
					return &store.Info{Name: name, ETag: `"past the lease ` + string(body) + `"`}, nil
				}
				return info, err
			},
		},
		"a write is refused after the lease has ended": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				if info, err := under.Stat(ctx, name, nil); err == nil && info.Lease.State == store.LeaseExpired {
					return nil, &store.Error{Op: "put", Name: name, Sentinel: store.ErrLeaseMissing}
				}
				return under.Put(ctx, name, body, o)
			},
		},
		"a read is stale": {
			get: func(under store.Store, name string) (*store.Object, error) {
				object, err := under.Get(ctx, name, nil)
				if err != nil {
					return nil, err
				}
				old, _ := before.LoadOrStore(name, object)
				if stale() {
					return old.(*store.Object), nil
				}
				return object, nil
			},
		},
		"a lease is granted twice": {
			lease: func(under store.Store, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
				result, err := under.Lease(ctx, name, r)
				if store.Code(err) == "LeaseAlreadyPresent" {
					return &store.LeaseResult{ID: r.ID}, nil
				}
				return result, err
			},
		},
		"a release releases nothing": {
			lease: func(under store.Store, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
				if r.Action == store.LeaseRelease {
					return &store.LeaseResult{}, nil
				}
				return under.Lease(ctx, name, r)
			},
		},
		"an acquire tells the ETag of another blob": {
			lease: func(under store.Store, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
				result, err := under.Lease(ctx, name, r)
				for other, otherErr := range under.List(ctx, "") {
					if err == nil && otherErr == nil && other.Name != name {
						result.ETag = other.ETag
					}
				}
				return result, err
			},
		},
		"an ETag is used again": {
			put: func(under store.Store, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
				info, err := under.Put(ctx, name, body, o)
				if err == nil && swaps() {
					info.ETag = `"1"`
				}
				return info, err
			},
		},
	}
}

// verdict keeps what a check says instead of failing the test.
type verdict struct {
	testing.TB
	failed bool
}

func (v *verdict) Errorf(string, ...any) { v.failed = true }

// A store that breaks a promise is found out, and leaves a picture.
func TestGame_FindsBrokenPromises(t *testing.T) {
	for name := range faults(t) {
		t.Run(name, func(t *testing.T) {
			v := &verdict{TB: t}
			for seed := uint64(0); !v.failed && seed < 100; seed++ {
				g := storetest.Game{Seed: seed, Prefix: "game/", FakeTime: true}
				var h storetest.History
				synctest.Test(t, func(t *testing.T) {
					s := faults(t)[name]
					s.Store = memstore.New(nil)
					if err := s.Create(t.Context()); err != nil {
						t.Fatal(err)
					}
					h = g.Play(t.Context(), s, 0, storetest.Clients)
				})
				g.Check(v, h)
			}
			if !v.failed {
				t.Error("100 games are linearizable")
			}
			pictures, err := filepath.Glob(filepath.Join(t.ArtifactDir(), "game*.html"))
			if name != "an ETag is used again" && (err != nil || len(pictures) == 0) { // which needs no search
				t.Errorf("pictures = %q, %v, want that of the game that failed", pictures, err)
			}
		})
	}
}

// A store that keeps them is not, whatever the schedule.
func TestRunHistories(t *testing.T) {
	storetest.RunHistories(t, storetest.Harness{
		Open:     func(testing.TB) store.Store { return memstore.New(nil) },
		FakeTime: true,
	}, storetest.Rounds(100, 4000))
}
