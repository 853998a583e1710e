package measure

import (
	"runtime"
	"time"
)

// Cost is what one call of a function takes.
type Cost struct {
	Time   time.Duration
	Allocs float64
}

// CostOf calls f again and again, for at least as long as least, and at least
// once, and returns what one call took. No other goroutine should allocate
// meanwhile.
func CostOf(least time.Duration, f func()) Cost {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	calls, began, took := 0, time.Now(), time.Duration(0)
	for n := 1; took < least || calls == 0; n *= 2 {
		for range n {
			f()
		}
		calls += n
		took = time.Since(began)
	}
	runtime.ReadMemStats(&after)
	return Cost{
		Time:   took / time.Duration(calls),
		Allocs: float64(after.Mallocs-before.Mallocs) / float64(calls),
	}
}

// turns is how often CostsOf changes from one to the other.
const turns = 3

// CostsOf is CostOf for two functions that do the same. They take turns, so that a
// machine that is slow for a while is slow for both, and each turn of f lasts as long
// as that of g before it, so that f pays for its garbage, too, if it is the faster
// one.
func CostsOf(least time.Duration, f, g func()) (ofF, ofG Cost) {
	for range turns {
		began := time.Now()
		ofG.add(CostOf(least, g))
		ofF.add(CostOf(max(least, time.Since(began)), f))
	}
	return ofF, ofG
}

// add takes in the share of one turn.
func (c *Cost) add(turn Cost) {
	c.Time += turn.Time / turns
	c.Allocs += turn.Allocs / turns
}

// Kept is how many bytes of the heap the value that f returns keeps alive.
func Kept(f func() any) int64 {
	before := heap()
	v := f()
	kept := heap() - before
	runtime.KeepAlive(v)
	return kept
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
