package paper

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// pageSize is how many blobs Azure lists in one request.
const pageSize = 5_000

// Store is how one worker sees an [Account]. It is not local, and has no versions,
// so the engine keeps the pace that it has on Azure, and it repeats what the
// driver for Azure repeats.
type Store struct {
	account *Account

	mu   sync.Mutex // guards the field below
	free time.Time  // when the line has moved all bodies asked for until now
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context) error {
	_, err := trip(ctx, s, request{"create", "", writes}, func() (struct{}, error) {
		return struct{}{}, s.account.blobs.Create(ctx)
	})
	return err
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	o, err := read(ctx, s, request{"get", name, reads}, c, func() (*store.Object, error) {
		return s.account.blobs.Get(ctx, name, c)
	})
	if err != nil {
		return nil, err
	}
	return o, s.move(ctx, len(o.Body))
}

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if err := s.move(ctx, len(body)); err != nil {
		return nil, err
	}
	return trip(ctx, s, request{"put", name, writes}, func() (*store.Info, error) {
		return s.account.blobs.Put(ctx, name, body, o)
	})
}

// Stat implements [store.Store].
func (s *Store) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	return read(ctx, s, request{"stat", name, others}, c, func() (*store.Info, error) {
		return s.account.blobs.Stat(ctx, name, c)
	})
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, name string, c *store.Conditions) error {
	_, err := trip(ctx, s, request{"delete", name, gratis}, func() (struct{}, error) {
		return struct{}{}, s.account.blobs.Delete(ctx, name, c)
	})
	return err
}

// List implements [store.Store].
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		listed := 0
		for info, err := range s.account.blobs.List(ctx, prefix) {
			if listed%pageSize == 0 {
				if err := s.page(ctx); err != nil {
					yield(nil, err)
					return
				}
			}
			listed++
			if !yield(info, err) {
				return
			}
		}
		if listed == 0 {
			if err := s.page(ctx); err != nil {
				yield(nil, err)
			}
		}
	}
}

func (s *Store) page(ctx context.Context) error {
	_, err := read(ctx, s, request{"list", "", writes}, nil, func() (struct{}, error) { return struct{}{}, nil })
	return err
}

// Lease implements [store.Store].
func (s *Store) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	return trip(ctx, s, request{string(r.Action), name, others}, func() (*store.LeaseResult, error) {
		return s.account.blobs.Lease(ctx, name, r)
	})
}

// Close does nothing: the content lives as long as the Account.
func (s *Store) Close() error { return nil }
