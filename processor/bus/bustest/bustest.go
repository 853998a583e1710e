package bustest

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
)

// Harness is how the suite gets the buses that it tests.
type Harness struct {
	// Open makes a network of its own for each call and returns a function that
	// joins another bus to it. With FakeTime it is called inside a bubble.
	Open func(t testing.TB) (join func() bus.Bus)
	// FakeTime tells that all the bus does, it does in goroutines and by the clock
	// of Go, so that it can live in a bubble of testing/synctest: no real network.
	FakeTime bool
}

// Run runs the whole suite. Each case is a subtest.
func Run(t *testing.T, h Harness) {
	for _, c := range checks() {
		t.Run(c.key, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Cleanup(func() { noneLeft(t, before) }) // after all other cleanups
			h.live(t, func(t *testing.T) { c.run(openWorld(t, h)) })
		})
	}
}

// check is one case.
type check struct {
	key string
	run func(w *world)
}

func checks() []check {
	return []check{
		{"deliver/to a listener, from any bus", deliver},
		{"deliver/not to listeners for other steps", deliverOther},
		{"deliver/to one of those who share a step", deliverShared},
		{"deliver/without a step to all", deliverLook},
		{"deliver/any names", deliverNames},
		{"deliver/many in one call", deliverMany},
		{"deliver/what was rung, whatever becomes of the slice", deliverCopy},
		{"ring/when nobody listens", ringNobody},
		{"ring/past a slow listener", ringSlow},
		{"ring/from everywhere at once", ringConcurrent},
		{"listen/ends with its context", listenEnds},
		{"listen/calls nobody after its context has ended", listenNoMore},
		{"listen/again, for a step named twice", listenAgain},
		{"listen/for no step", listenNone},
		{"close/ends all listening", closeEnds},
		{"close/leaves other buses alone", closeOthers},
	}
}

// live calls f where the harness wants its buses to live: in a bubble or not.
func (h Harness) live(t *testing.T, f func(*testing.T)) {
	if h.FakeTime {
		synctest.Test(t, f)
		return
	}
	f(t)
}

// patience is how long something may take that should happen at once.
const patience = 20 * time.Second

// noneLeft waits until there are no more goroutines than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	if t.Failed() {
		return
	}
	defer func() {
		if t.Failed() {
			stacks := make([]byte, 1<<20)
			t.Logf("the goroutines:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}()
	until(t, func() bool { return runtime.NumGoroutine() <= before }, "more than the %d goroutines of before", before)
}
