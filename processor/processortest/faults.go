package processortest

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/leasestream/leasestream/scope/store"
)

// ErrInjected is the error of what fails because the test wants it to.
var ErrInjected = errors.New("injected by the test")

// faults is the store as one worker sees it. An error of it is none of the store's
// sentinels: the outcome is unknown.
type faults struct {
	store.Store

	mu         sync.Mutex // guards the fields below
	dead       bool
	failures   int // of the next requests
	carriedOut bool
}

func (f *faults) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

func (f *faults) isDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

func (f *faults) fail(n int, carriedOut bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures, f.carriedOut = n, carriedOut
}

// decide reports whether a request reaches the store, and whether its answer comes
// back.
func (f *faults) decide() (reaches, answered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.dead:
		return false, false
	case f.failures > 0:
		f.failures--
		return f.carriedOut, false
	}
	return true, true
}

// request makes one of the store, unless it is to fail.
func request[T any](f *faults, do func() (T, error)) (answer T, err error) {
	reaches, answered := f.decide()
	if reaches {
		answer, err = do()
	}
	if !answered {
		return *new(T), ErrInjected
	}
	return answer, err
}

// order is request for those without an answer.
func order(f *faults, do func() error) error {
	_, err := request(f, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// Create implements [store.Store].
func (f *faults) Create(ctx context.Context) error {
	return order(f, func() error { return f.Store.Create(ctx) })
}

// Get implements [store.Store].
func (f *faults) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	return request(f, func() (*store.Object, error) { return f.Store.Get(ctx, name, c) })
}

// Put implements [store.Store].
func (f *faults) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	return request(f, func() (*store.Info, error) { return f.Store.Put(ctx, name, body, o) })
}

// Stat implements [store.Store].
func (f *faults) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	return request(f, func() (*store.Info, error) { return f.Store.Stat(ctx, name, c) })
}

// Delete implements [store.Store].
func (f *faults) Delete(ctx context.Context, name string, c *store.Conditions) error {
	return order(f, func() error { return f.Store.Delete(ctx, name, c) })
}

// List implements [store.Store].
func (f *faults) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		if _, answered := f.decide(); !answered {
			yield(nil, ErrInjected)
			return
		}
		f.Store.List(ctx, prefix)(yield)
	}
}

// Lease implements [store.Store].
func (f *faults) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	return request(f, func() (*store.LeaseResult, error) { return f.Store.Lease(ctx, name, r) })
}

// Close leaves the container to the other processes.
func (f *faults) Close() error { return nil }
