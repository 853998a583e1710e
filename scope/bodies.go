package scope

import (
	"sync"

	"github.com/leasestream/leasestream/eventstream"
)

// bodies are buffers for documents on their way to the store, to use again: to clear
// new memory for a large document takes as long as to fill it. The zero value is ready.
type bodies struct{ pool sync.Pool }

// of returns the bytes of a stream.
func (b *bodies) of(s *eventstream.Stream) []byte {
	buffer, ok := b.pool.Get().(*[]byte)
	if !ok || cap(*buffer) < s.Size() {
		room := make([]byte, 0, s.Size()+s.Size()/4) // it grows
		buffer = &room
	}
	return s.AppendTo((*buffer)[:0])
}

// reuse takes back what of has returned, when nobody reads it any more.
func (b *bodies) reuse(body []byte) { b.pool.Put(&body) }
