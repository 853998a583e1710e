// Package meter counts what a store is asked for.
package meter

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/leasestream/leasestream/scope/store"
)

// Meter counts the requests to the stores that it wraps. The zero Meter is ready.
type Meter struct {
	// Prefix of the blobs of which every Put is noted.
	Prefix string

	requests, written, read atomic.Int64

	mu   sync.Mutex // guards the fields below
	puts []Put
}

// Put is one write of a blob.
type Put struct {
	Blob string `json:"blob"`
	Size int    `json:"size"` // bytes
	// Changed is how many of them are in pieces that are others than before; all of
	// them if the blob was written whole.
	Changed int `json:"changed"`
}

// Counts are requests, and what they moved.
type Counts struct {
	Requests int64 `json:"requests"`
	Written  int64 `json:"written"` // bytes
	Read     int64 `json:"read"`    // bytes
	// Puts are those of the blobs with the meter's prefix.
	Puts []Put `json:"puts"`
}

// Counts returns what was counted up to now.
func (m *Meter) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Counts{m.requests.Load(), m.written.Load(), m.read.Load(), slices.Clone(m.puts)}
}

// Wrap returns st as it is, but for the count. A listing counts as one request,
// though a service may answer it in parts. The look at the version of a local
// store is not counted: it is one at memory that processes share.
func (m *Meter) Wrap(st store.Store) store.Store {
	counted := counting{st, m}
	if v, ok := st.(store.Versioner); ok {
		return versioned{counted, v}
	}
	return counted
}

func (m *Meter) noteWritten(p Put) {
	m.written.Add(int64(p.Size))
	if m.Prefix == "" || !strings.HasPrefix(p.Blob, m.Prefix) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts = append(m.puts, p)
}

// changed is how many bytes are in pieces that do not stand in had at the same place.
func changed(pieces []string, had *store.Body) (n int) {
	for i, piece := range pieces {
		if had == nil || i >= len(had.Pieces) || had.Pieces[i] != piece {
			n += len(piece)
		}
	}
	return n
}

type versioned struct {
	counting
	store.Versioner
}

type counting struct {
	store.Store
	m *Meter
}

// Local passes on what the driver says.
func (s counting) Local() bool { return store.IsLocal(s.Store) }

// Create implements [store.Store].
func (s counting) Create(ctx context.Context) error {
	s.m.requests.Add(1)
	return s.Store.Create(ctx)
}

// Get implements [store.Store].
func (s counting) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	s.m.requests.Add(1)
	o, err := s.Store.Get(ctx, name, c)
	if err == nil {
		s.m.read.Add(int64(len(o.Body)))
	}
	return o, err
}

// Put implements [store.Store].
func (s counting) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	s.m.requests.Add(1)
	info, err := s.Store.Put(ctx, name, body, o)
	if err == nil {
		s.m.noteWritten(Put{name, len(body), len(body)})
	}
	return info, err
}

// GetPieces implements [store.Piecewise], on any store.
func (s counting) GetPieces(ctx context.Context, name string, had *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	s.m.requests.Add(1)
	info, body, err := store.GetPieces(ctx, s.Store, name, had, c)
	if err == nil {
		s.m.read.Add(info.Size)
	}
	return info, body, err
}

// PutPieces implements [store.Piecewise], on any store.
func (s counting) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	s.m.requests.Add(1)
	info, body, err := store.PutPieces(ctx, s.Store, name, pieces, had, o)
	if err == nil {
		s.m.noteWritten(Put{name, body.Size(), changed(pieces, had)})
	}
	return info, body, err
}

// Stat implements [store.Store].
func (s counting) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	s.m.requests.Add(1)
	return s.Store.Stat(ctx, name, c)
}

// Delete implements [store.Store].
func (s counting) Delete(ctx context.Context, name string, c *store.Conditions) error {
	s.m.requests.Add(1)
	return s.Store.Delete(ctx, name, c)
}

// List implements [store.Store].
func (s counting) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	s.m.requests.Add(1)
	return s.Store.List(ctx, prefix)
}

// Lease implements [store.Store].
func (s counting) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	s.m.requests.Add(1)
	return s.Store.Lease(ctx, name, r)
}
