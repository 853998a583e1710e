package scope

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// Snapshot is a stream as it was at one moment.
type Snapshot struct {
	Stream *eventstream.Stream // the caller's own
	ETag   string
	Info   store.Info
}

// Read reads a stream without a lease: it waits for nobody, and nobody waits for
// it. The next edit may have made it old already. store.ErrNotFound if there is no
// such blob, eventstream.ErrMalformed if it cannot be read.
func (s *Scope) Read(ctx context.Context, blob string) (*Snapshot, error) {
	var object *store.Object
	err := s.insist(ctx, s.set.call, func(ctx context.Context) (err error) {
		object, err = s.st.Get(ctx, blob, nil)
		return err
	})
	if errors.Is(err, store.ErrDamaged) {
		return nil, fmt.Errorf("read %q: %w", blob, malformed(err))
	}
	if err != nil {
		return nil, &Error{"read", blob, err}
	}
	stream, err := eventstream.Parse(object.Body)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", blob, err)
	}
	return &Snapshot{Stream: stream, ETag: object.ETag, Info: object.Info}, nil
}
