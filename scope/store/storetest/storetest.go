package storetest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/scope/store"
)

// Harness is how the suite gets the stores that it tests.
type Harness struct {
	// Open returns a store of its own for each call, with no container yet, and
	// arranges for it to be closed. With FakeTime it is called inside a bubble.
	Open func(t testing.TB) store.Store
	// FakeTime tells that the store lives on the Go clock, so that testing/synctest
	// can fake it. If false, the suite waits for leases to expire, once.
	FakeTime bool
	// Deviations are the known differences of the service behind the driver.
	Deviations []Deviation
}

// Deviation is a scenario that the service answers differently. The suite fails
// if it does so no longer.
type Deviation struct {
	Number int    // in the driver's list of reasons
	Case   string // key of the scenario, such as "lease/blob/renew(B)/expired"
	Answer string // what comes instead, such as "ok leased(A)"
}

// Run runs the whole suite. Each case is a subtest.
func Run(t *testing.T, h Harness) {
	runScenarios(t, h, scenarios())
	for _, c := range checks() {
		t.Run(c.key, func(t *testing.T) {
			h.live(t, func(t *testing.T) { c.run(t, c.open(t, h)) })
		})
	}
}

// scenarios are all cases that are data.
func scenarios() []scenario {
	all := slices.Concat(conditionScenarios(), formScenarios(), metadataScenarios(), leaseTimeScenarios())
	for _, t := range slices.Concat(useTables(), leaseTables()) {
		all = append(all, t.scenarios()...)
	}
	return all
}

// check is a case that is code.
type check struct {
	key  string
	run  func(t *testing.T, s store.Store)
	bare bool // the container is not there
}

// checks are all cases that are code.
func checks() []check {
	return slices.Concat(putChecks(), listChecks(), containerChecks(), leaseChecks(), etagChecks(), raceChecks(), cancelChecks(), versionChecks(), holderChecks(), piecesChecks())
}

func (c check) open(t *testing.T, h Harness) store.Store {
	if c.bare {
		return h.Open(t)
	}
	return open(t, h)
}

// live calls f where the harness wants its stores to live: in a bubble or not.
func (h Harness) live(t *testing.T, f func(*testing.T)) {
	if h.FakeTime {
		synctest.Test(t, f)
		return
	}
	f(t)
}

// open returns a new store with its container.
func open(t testing.TB, h Harness) store.Store {
	t.Helper()
	s := h.Open(t)
	if err := s.Create(t.Context()); err != nil {
		t.Fatalf("Create() = %v", err)
	}
	return s
}
