// Package memstore is a store in memory: for tests, samples and runs that need
// not outlive their process. It follows Azure's rules to the letter, tells the
// time by the Go clock (a testing/synctest bubble can fake it), starts no
// goroutines and never blocks.
package memstore

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Store is one container in memory. Make one with [New].
type Store struct {
	maxBody int64

	mu        sync.Mutex  // guards the fields below
	etags     uint64      // how many were given out
	version   uint64      // counts what was changed
	container *rules.Blob // nil until it is created
	blobs     map[string]*blob
	names     []string // the keys of blobs, sorted
}

// blob is replaced by every write. Its body is never changed, so that it can be
// handed out, and copied outside the lock.
type blob struct {
	rules.Blob
	body *store.Body
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Versioner = (*Store)(nil)
	_ store.Piecewise = (*Store)(nil)
)

// Options of a store; nil means the defaults.
type Options struct {
	// MaxBody is the largest body of a blob in bytes; 0 means 5,000 MiB, as on
	// Azure. A larger one is refused with store.ErrTooLarge.
	MaxBody int64
}

func (o *Options) maxBody() int64 {
	if o == nil || o.MaxBody == 0 {
		return rules.MaxBody
	}
	return o.MaxBody
}

// New returns an empty store, whose container is still to be created.
func New(o *Options) *Store {
	return &Store{maxBody: o.maxBody(), blobs: map[string]*blob{}}
}

// Local reports that a call costs no round trip.
func (s *Store) Local() bool { return true }

// Close does nothing: the content lives as long as the Store.
func (s *Store) Close() error { return nil }

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context) error {
	err := s.locked(ctx, func(now time.Time) error {
		if s.container == nil {
			s.container = &rules.Blob{ETag: s.nextETag(), Created: now, Modified: now}
		}
		return nil
	})
	return rules.Fail("create", "", err)
}

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	info, body, err := s.GetPieces(ctx, name, nil, c)
	if err != nil {
		return nil, err
	}
	return &store.Object{Info: *info, Body: body.Bytes()}, nil
}

// GetPieces implements [store.Piecewise]. It gives the pieces that were put.
func (s *Store) GetPieces(ctx context.Context, name string, _ *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	var info store.Info
	var body *store.Body
	err := rules.CheckName(name)
	if err == nil {
		info, body, err = s.read(ctx, name, c)
	}
	if err != nil {
		return nil, nil, rules.Fail("get", name, err)
	}
	return &info, body, nil
}

// Stat implements [store.Store].
func (s *Store) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	info, _, err := s.read(ctx, name, c)
	if err != nil {
		return nil, rules.Fail("stat", name, err)
	}
	return &info, nil
}

func (s *Store) read(ctx context.Context, name string, c *store.Conditions) (info store.Info, body *store.Body, err error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err != nil {
		return info, nil, err
	}
	err = s.locked(ctx, func(now time.Time) error {
		found, err := s.find(name)
		if err != nil {
			return err
		}
		if err := found.Read(name, &conditions, now); err != nil {
			return err
		}
		info = found.Info(name, now)
		if b := s.blobs[name]; b != nil {
			body = b.body
		}
		return nil
	})
	return info, body, err
}

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	info, _, err := s.PutPieces(ctx, name, []string{string(body)}, nil, o)
	return info, err
}

// PutPieces implements [store.Piecewise].
func (s *Store) PutPieces(ctx context.Context, name string, pieces []string, _ *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	body := &store.Body{Pieces: slices.Clone(pieces)}
	info, err := s.put(ctx, name, body, o)
	if err != nil {
		return nil, nil, rules.Fail("put", name, err)
	}
	return info, body, nil
}

func (s *Store) put(ctx context.Context, name string, body *store.Body, o *store.PutOptions) (*store.Info, error) {
	size := int64(body.Size())
	o, err := rules.NormalizePut(name, size, o, s.maxBody)
	if err != nil {
		return nil, err
	}
	var info store.Info
	err = s.locked(ctx, func(now time.Time) error {
		found, err := s.find(name)
		if err != nil {
			return err
		}
		written, err := found.Put(size, o, now)
		if err != nil {
			return err
		}
		written.ETag = s.nextETag()
		s.set(name, &blob{Blob: *written, body: body})
		info = written.Info(name, now)
		return nil
	})
	return &info, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, name string, c *store.Conditions) error {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForWrite)
	if err == nil {
		err = s.locked(ctx, func(now time.Time) error {
			found, err := s.find(name)
			if err != nil {
				return err
			}
			if err := found.Delete(name, &conditions, now); err != nil {
				return err
			}
			s.remove(name)
			return nil
		})
	}
	return rules.Fail("delete", name, err)
}

// Lease implements [store.Store].
func (s *Store) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	request, err := rules.NormalizeLease(name, r)
	var result *store.LeaseResult
	if err == nil {
		err = s.locked(ctx, func(now time.Time) error {
			found, err := s.find(name)
			if err != nil {
				return err
			}
			lease, done, err := found.Operate(name, request, now)
			if err != nil {
				return err
			}
			found.Lease, result = lease, done
			s.version++
			return nil
		})
	}
	return result, rules.Fail(string(r.Action), name, err)
}

// List implements [store.Store]. It shows one moment: the blobs as they were
// when the loop began.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		infos, err := s.list(ctx, prefix)
		if err != nil {
			yield(nil, rules.Fail("list", prefix, err))
			return
		}
		for i := range infos {
			if err := ctx.Err(); err != nil {
				yield(nil, rules.Fail("list", prefix, err))
				return
			}
			if !yield(&infos[i], nil) {
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, prefix string) (infos []store.Info, err error) {
	err = s.locked(ctx, func(now time.Time) error {
		if s.container == nil {
			return rules.Refuse("ContainerNotFound", "")
		}
		first, _ := slices.BinarySearch(s.names, prefix)
		for _, name := range s.names[first:] {
			if !strings.HasPrefix(name, prefix) {
				break
			}
			infos = append(infos, s.blobs[name].Info(name, now))
		}
		return nil
	})
	return infos, err
}

// locked runs f under the lock; now is read there, so that requests are judged
// in the order of their times.
func (s *Store) locked(ctx context.Context, f func(now time.Time) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(time.Now())
}

// find returns the blob or the container that name stands for, nil if there is
// no such blob.
func (s *Store) find(name string) (*rules.Blob, error) {
	if err := rules.CheckTarget(name); err != nil {
		return nil, err
	}
	if s.container == nil {
		return nil, rules.Refuse("ContainerNotFound", "")
	}
	if name == "" {
		return s.container, nil
	}
	if b := s.blobs[name]; b != nil {
		return &b.Blob, nil
	}
	return nil, nil
}

func (s *Store) nextETag() string {
	s.etags++
	return rules.ETag(s.etags)
}

func (s *Store) set(name string, b *blob) {
	s.version++
	if s.blobs[name] == nil {
		i, _ := slices.BinarySearch(s.names, name)
		s.names = slices.Insert(s.names, i, name)
	}
	s.blobs[name] = b
}

func (s *Store) remove(name string) {
	s.version++
	if name == "" {
		s.container, s.blobs, s.names = nil, map[string]*blob{}, nil
		return
	}
	delete(s.blobs, name)
	i, _ := slices.BinarySearch(s.names, name)
	s.names = slices.Delete(s.names, i, i+1)
}
