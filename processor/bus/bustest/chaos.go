package bustest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
)

// maxDelay is how late a doorbell may be: later than several polls of a local
// store.
const maxDelay = 2 * time.Second

// Chaos puts a bus over b that loses a quarter of the doorbells that are rung
// through it, doubles a quarter of the rest, delays half of what is left, each by
// up to two seconds, and changes their order. What becomes of the n-th doorbell
// depends on the seed alone. Close drops what is late, and closes b.
//
// Listening is that of b, so several buses of one network may have a Chaos of
// their own.
func Chaos(b bus.Bus, seed uint64) bus.Bus {
	return &chaos{under: b, closed: make(chan struct{}), dice: rand.New(rand.NewPCG(seed, seed))}
}

type chaos struct {
	under  bus.Bus
	closed chan struct{}

	mu   sync.Mutex // guards the fields below
	dice *rand.Rand
	late sync.WaitGroup // of doorbells; under mu, so that none is added while Close waits
	done bool           // closed is closed
}

func (c *chaos) Ring(ctx context.Context, bells ...bus.Doorbell) error {
	return c.under.Ring(ctx, c.sort(ctx, bells)...)
}

// sort returns the doorbells to ring now and sees to those to ring later.
func (c *chaos) sort(ctx context.Context, bells []bus.Doorbell) (now []bus.Doorbell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, bell := range bells {
		for range c.copies() {
			if delay := c.delay(); delay > 0 && !c.done {
				c.late.Go(func() { c.ringLate(context.WithoutCancel(ctx), bell, delay) })
			} else {
				now = append(now, bell)
			}
		}
	}
	c.dice.Shuffle(len(now), func(i, j int) { now[i], now[j] = now[j], now[i] })
	return now
}

func (c *chaos) copies() int {
	switch {
	case c.dice.IntN(4) == 0:
		return 0
	case c.dice.IntN(4) == 0:
		return 2
	default:
		return 1
	}
}

func (c *chaos) delay() time.Duration {
	if c.dice.IntN(2) == 0 {
		return 0
	}
	return time.Duration(c.dice.Int64N(int64(maxDelay)))
}

// ringLate has nobody to give an error to: the doorbell is then one more that is
// lost.
func (c *chaos) ringLate(ctx context.Context, bell bus.Doorbell, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		_ = c.under.Ring(ctx, bell)
	case <-c.closed:
	}
}

func (c *chaos) Listen(ctx context.Context, steps []string, f func(bus.Doorbell)) error {
	return c.under.Listen(ctx, steps, f)
}

func (c *chaos) Close() error {
	c.mu.Lock()
	if !c.done {
		c.done = true
		close(c.closed)
	}
	c.mu.Unlock()
	c.late.Wait()
	return c.under.Close()
}
