package scope

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// instant is one moment, on both clocks of the machine. The monotonic clock
// cannot be set, but stands still while the machine sleeps; the wall clock goes
// on, but can be set.
type instant struct {
	mono time.Duration // since the clock was made
	wall time.Time     // without a monotonic reading
}

func (i instant) add(d time.Duration) instant { return instant{i.mono + d, i.wall.Add(d)} }

// reached reports whether i is at or after a deadline on either clock.
func (i instant) reached(deadline instant) bool { return i.until(deadline) <= 0 }

// until is the time from i to a deadline, by the clock on which it is nearer.
func (i instant) until(deadline instant) time.Duration {
	return min(deadline.mono-i.mono, deadline.wall.Sub(i.wall))
}

// maxParting is how much the two clocks may differ over a while without our
// taking it that the machine slept or its clock was set.
const maxParting = 100 * time.Millisecond

// parted reports whether the two clocks measured the time from a to b differently.
func parted(a, b instant) bool {
	return (b.wall.Sub(a.wall) - (b.mono - a.mono)).Abs() > maxParting
}

// clock estimates the time of a store. Each answer of the store bounds the offset
// between its clock and ours: the store said its time after we had sent the
// request, and before we had the answer.
type clock struct {
	base  time.Time
	exact bool // the store's clock is ours

	mu       sync.Mutex    // guards the fields below
	known    bool          // there are bounds
	min, max time.Duration // bounds of store time − wall clock
	seen     instant       // of the answer that last agreed
}

func newClock(exact bool) *clock { return &clock{base: time.Now(), exact: exact} }

func (c *clock) instant() instant {
	now := time.Now()
	return instant{now.Sub(c.base), now.Round(0)}
}

// now is the store's time.
func (c *clock) now() time.Time {
	if c.exact {
		return time.Now()
	}
	return time.Now().Round(0).Add(c.offset())
}

func (c *clock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.min + (c.max-c.min)/2
}

// observe takes in what an answer tells of the store's time. Bounds that
// contradict each other mean that a clock drifted or was set: the newest count.
func (c *clock) observe(sent, received instant, d store.Date) {
	if c.exact || d.Time.IsZero() || parted(sent, received) {
		return
	}
	low, high := d.Time.Sub(received.wall), d.Time.Add(d.Resolution).Sub(sent.wall)
	c.mu.Lock()
	defer c.mu.Unlock()
	bothLow, bothHigh := max(low, c.min), min(high, c.max)
	if c.known && bothLow <= bothHigh && !parted(c.seen, received) {
		low, high = bothLow, bothHigh
	}
	c.known, c.min, c.max, c.seen = true, low, high, received
}

// timed is a store whose answers set a clock.
type timed struct {
	store.Store
	clock *clock
}

// Local passes on what the store beneath says.
func (t timed) Local() bool { return store.IsLocal(t.Store) }

func (t timed) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	sent := t.clock.instant()
	object, err := t.Store.Get(ctx, name, c)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), object.Date)
	}
	return object, err
}

func (t timed) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	sent := t.clock.instant()
	info, err := t.Store.Put(ctx, name, body, o)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), info.Date)
	}
	return info, err
}

func (t timed) GetPieces(ctx context.Context, name string, had *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	sent := t.clock.instant()
	info, body, err := store.GetPieces(ctx, t.Store, name, had, c)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), info.Date)
	}
	return info, body, err
}

func (t timed) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	sent := t.clock.instant()
	info, body, err := store.PutPieces(ctx, t.Store, name, pieces, had, o)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), info.Date)
	}
	return info, body, err
}

func (t timed) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	sent := t.clock.instant()
	info, err := t.Store.Stat(ctx, name, c)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), info.Date)
	}
	return info, err
}

func (t timed) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		sent := t.clock.instant()
		for info, err := range t.Store.List(ctx, prefix) {
			if err == nil {
				t.clock.observe(sent, t.clock.instant(), info.Date)
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (t timed) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	sent := t.clock.instant()
	result, err := t.Store.Lease(ctx, name, r)
	if err == nil {
		t.clock.observe(sent, t.clock.instant(), result.Date)
	}
	return result, err
}
