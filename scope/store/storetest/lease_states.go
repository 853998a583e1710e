package storetest

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// The columns of the tables: the states of a lease that A took.
const (
	available = iota
	leased
	breaking
	broken
	expired
	states
)

var stateNames = [states]string{"available", "leased", "breaking", "broken", "expired"}

// unchanged is how the state is written after a request that was refused.
var unchanged = [states]string{"available", "leased(A)", "breaking(A)", "broken", "expired"}

// reach is how a target gets into a state. Only an expired lease takes time; one
// that is to stay lasts 60 s, which is longer than all other waits.
func reach(state int) []step {
	switch state {
	case leased:
		return []step{do(acquire(idA, store.MaxLease))}
	case breaking:
		return []step{do(acquire(idA, store.MaxLease), breakAfter(store.MaxBreakPeriod))}
	case broken:
		return []step{do(acquire(idA, store.LeaseInfinite), breakAfter(0))}
	case expired:
		return []step{do(acquire(idA, store.MinLease))}
	}
	return nil
}

// pause is how long the state takes to come.
func pause(state int) time.Duration {
	if state == expired {
		return store.MinLease + slack
	}
	return 0
}

// table is one of the tables of lease states, row by row.
type table struct {
	key       string // "use/blob", "lease/container", …
	container bool
	rows      []row
}

// row is one request and what comes of it in each state.
type row struct {
	name  string
	ask   step
	cells [states]cell
}

// cell is a list of right answers: codes, after which the state is what it was,
// or "ok" with the state afterwards.
type cell []string

// scenarios makes one scenario of each cell.
func (t table) scenarios() []scenario {
	var all []scenario
	for _, row := range t.rows {
		for state, c := range row.cells {
			all = append(all, scenario{
				key:   t.key + "/" + row.name + "/" + stateNames[state],
				own:   t.container,
				steps: t.steps(state, row.ask),
				want:  c.answers(state),
			})
		}
	}
	return all
}

func (t table) steps(state int, ask step) []step {
	steps := append([]step{{act: create}}, reach(state)...)
	return append(steps, ask.after(pause(state)))
}

// answers completes the codes of a cell with the state that a refusal leaves.
func (c cell) answers(state int) []string {
	all := make([]string, len(c))
	for i, a := range c {
		all[i] = a
		if len(a) < 3 || a[:3] != "ok " {
			all[i] = a + " " + unchanged[state]
		}
	}
	return all
}
