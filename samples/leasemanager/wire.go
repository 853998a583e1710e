package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/leasestream/leasestream/scope/store"
)

// wire connects a process with the store. Once it is cut, nothing gets through any
// more, which is all that a store notices of a crash.
type wire struct {
	store.Store
	cut atomic.Bool
}

var errCut = errors.New("the process is dead")

// Local passes on what the store says.
func (w *wire) Local() bool { return store.IsLocal(w.Store) }

// Lease is the one request that a scope sends on its own, to renew and to release.
func (w *wire) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	if w.cut.Load() {
		return nil, errCut
	}
	return w.Store.Lease(ctx, name, r)
}
