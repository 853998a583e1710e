package scope

import (
	"context"
	"math/rand/v2"
	"time"
)

// waits bound the pauses of one that tries again.
type waits struct {
	min, max time.Duration
	flat     bool // the whole range from the first pause on
}

// backoff gives pauses that are random, so that those who wait together do not
// come together, in a range that doubles up to its bound. The zero value with its
// waits set is ready.
type backoff struct {
	waits
	top time.Duration
}

func (b *backoff) next() time.Duration {
	switch {
	case b.flat:
		b.top = b.max
	case b.top == 0:
		b.top = 2 * b.min
	default:
		b.top *= 2
	}
	b.top = max(b.min, min(b.top, b.max))
	return b.min + rand.N(b.top-b.min+1)
}

func (b *backoff) reset() { b.top = 0 }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
