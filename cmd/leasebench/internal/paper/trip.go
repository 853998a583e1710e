package paper

import (
	"context"
	"errors"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

type request struct {
	op, name string
	class    func(*Bill) *int64 // which count of the bill it belongs to
}

func writes(b *Bill) *int64 { return &b.Writes }
func reads(b *Bill) *int64  { return &b.Reads }
func others(b *Bill) *int64 { return &b.Others }
func gratis(b *Bill) *int64 { return &b.Free }

// repeats and repeatDelay are how often the driver for Azure has the SDK repeat a
// read without conditions that was refused over a limit, and what it waits before
// the first time; it waits longer from time to time.
const (
	repeats     = 3
	repeatDelay = 800 * time.Millisecond
)

// read is a trip that is repeated as the driver for Azure does.
func read[T any](ctx context.Context, s *Store, r request, c *store.Conditions, do func() (T, error)) (T, error) {
	for try := 1; ; try++ {
		result, err := trip(ctx, s, r, do)
		if !errors.Is(err, store.ErrThrottled) || try > repeats || c != nil && *c != (store.Conditions{}) {
			return result, err
		}
		if err := pause(ctx, repeatDelay*(1<<try-1)); err != nil {
			return result, err
		}
	}
}

// trip takes the latency of r, half of it before the store decides and half after:
// whoever stops waiting on the way back does not know what was decided.
func trip[T any](ctx context.Context, s *Store, r request, do func() (T, error)) (T, error) {
	var none T
	half := s.latency(r) / 2
	if err := pause(ctx, half); err != nil {
		return none, err
	}
	err := s.account.admit(r.op, r.name, r.class)
	result := none
	if err == nil {
		result, err = do()
	}
	if late := pause(ctx, half); late != nil {
		return none, late
	}
	return result, err
}

func (s *Store) latency(r request) time.Duration {
	if r.op == "put" || r.op == "list" || r.op == "create" {
		return s.account.azure.WriteLatency
	}
	return s.account.azure.Latency
}

// move takes as long as a body needs, after those that were there before it.
func (s *Store) move(ctx context.Context, bytes int) error {
	return pause(ctx, time.Until(s.reserve(bytes)))
}

func (s *Store) reserve(bytes int) (until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Duration(float64(bytes) / s.account.azure.Bandwidth * float64(time.Second)))
	return s.free
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
