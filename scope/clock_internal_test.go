package scope

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

func TestInstant_EitherClockReachesADeadline(t *testing.T) {
	start := instant{mono: time.Hour, wall: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)}
	deadline := start.add(12 * time.Second)
	for _, test := range []struct {
		name       string
		mono, wall time.Duration // since start
		want       bool
	}{
		{"before", 12*time.Second - 1, 12*time.Second - 1, false},
		{"at", 12 * time.Second, 12 * time.Second, true},
		{"the machine slept: the monotonic clock stood still", time.Second, time.Hour, true},
		{"the wall clock was set back", 12 * time.Second, -time.Hour, true},
		{"the wall clock was set back a little", 5 * time.Second, -time.Hour, false},
	} {
		now := instant{start.mono + test.mono, start.wall.Add(test.wall)}
		if got := now.reached(deadline); got != test.want {
			t.Errorf("%s: reached() = %t, want %t", test.name, got, test.want)
		}
	}
}

func TestClock_ExactOnLocalStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(true)
		c.observe(c.instant(), c.instant(), store.Date{Time: time.Now().Add(time.Hour)})
		if got := c.now(); !got.Equal(time.Now()) {
			t.Errorf("now() = %v, want our own time %v", got, time.Now())
		}
	})
}

// The estimate lies within half a request and half the resolution of the truth
// after one answer, and gets better with more.
func TestClock_Offset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const offset = 90 * time.Second
		c := newClock(false)
		if got := c.now(); !got.Equal(time.Now()) {
			t.Errorf("now() before the first answer = %v, want our own time", got)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 100 {
			sent := c.instant()
			time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond))))
			date := store.Date{Time: time.Now().Add(offset).Truncate(time.Second), Resolution: time.Second}
			time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond))))
			c.observe(sent, c.instant(), date)
			limit := 550 * time.Millisecond
			if n > 30 {
				limit = 60 * time.Millisecond
			}
			if got := (time.Until(c.now()) - offset).Abs(); got > limit {
				t.Fatalf("after %d answers now() is %v off, want at most %v", n+1, got, limit)
			}
			time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
		}
	})
}

func TestClock_StartsAnew(t *testing.T) {
	wall := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	at := func(mono, shift time.Duration) instant { return instant{mono, wall.Add(mono + shift)} }
	exact := func(i instant, offset time.Duration) store.Date { return store.Date{Time: i.wall.Add(offset)} }
	for _, test := range []struct {
		name         string
		sent, answer instant
		offset       time.Duration // that the second answer tells
		want         time.Duration
	}{
		{"same offset", at(10*time.Second, 0), at(10*time.Second, 0), 5 * time.Second, 5 * time.Second},
		{"contradiction: a clock has drifted", at(10*time.Second, 0), at(10*time.Second, 0), 6 * time.Second, 6 * time.Second},
		{"our wall clock was set", at(10*time.Second, time.Minute), at(10*time.Second, time.Minute), 5 * time.Second, 5 * time.Second},
		{"our wall clock was set during the request", at(10*time.Second, 0), at(11*time.Second, time.Minute), 9 * time.Second, 5 * time.Second},
	} {
		c := newClock(false)
		first := at(time.Second, 0)
		c.observe(first, first, exact(first, 5*time.Second))
		c.observe(test.sent, test.answer, exact(test.answer, test.offset))
		if got := c.offset(); got != test.want {
			t.Errorf("%s: offset = %v, want %v", test.name, got, test.want)
		}
	}
	c := newClock(false)
	c.observe(at(0, 0), at(0, 0), store.Date{})
	if c.known {
		t.Error("an answer without a date was taken for one")
	}
}

// Bounds that are wide before the clock was set must not be mixed with those after.
func TestClock_PartedBoundsAreDropped(t *testing.T) {
	wall := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	c := newClock(false)
	before := instant{0, wall}
	c.observe(before, before, store.Date{Time: wall, Resolution: time.Second})
	after := instant{time.Second, wall.Add(time.Second + 800*time.Millisecond)}
	c.observe(after, after, store.Date{Time: after.wall.Add(-800 * time.Millisecond), Resolution: time.Second})
	if got, want := c.offset(), -300*time.Millisecond; got != want {
		t.Errorf("offset = %v, want %v: the first answer's bounds are of another clock", got, want)
	}
}
