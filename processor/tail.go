package processor

import (
	"bytes"
	"sync"
)

// Tail is a writer that keeps the end of what is written to it: of a log, for
// one. It is safe for concurrent use.
type Tail struct {
	limit int

	mu      sync.Mutex // guards the fields below
	data    []byte     // up to twice the limit, so that it is not moved at each write
	written int64
}

// NewTail makes a Tail that keeps the last limit bytes.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write takes p and never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += int64(len(p))
	t.data = append(t.data, p[max(0, len(p)-t.limit):]...)
	if surplus := len(t.data) - t.limit; surplus > t.limit {
		t.data = append(t.data[:0], t.data[surplus:]...)
	}
	return len(p), nil
}

// Bytes is what is kept, in a slice of its own.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.data[max(0, len(t.data)-t.limit):])
}

// Lines is what is kept from the first line on that is known to be whole; if no
// line is, all that is kept.
func (t *Tail) Lines() []byte {
	kept := t.Bytes()
	if t.Written() == int64(len(kept)) {
		return kept
	}
	if _, whole, ok := bytes.Cut(kept, []byte("\n")); ok && len(whole) > 0 {
		return whole
	}
	return kept
}

// Written is how many bytes were written in all.
func (t *Tail) Written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}
