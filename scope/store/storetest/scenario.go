package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// scenario is a case that is data: steps, of which each first lets time pass,
// and the answers that are right at the end.
type scenario struct {
	key   string
	own   bool // is about a container, which has to be its own
	steps []step
	want  []string
}

// step waits and acts. Steps prepare; the last one's answer is that of the
// scenario. An answer before the last that is not "" ends the scenario: the
// preparation went wrong.
type step struct {
	wait time.Duration
	act  func(w *world) string
}

// Slack of the waits: a service tells and judges its time in seconds, and the
// steps of all scenarios that are due take a moment.
const slack = 2 * time.Second

// runScenarios plays the scenarios and then reports each in a subtest of its own.
func runScenarios(t *testing.T, h Harness, all []scenario) {
	deviations := h.deviations(t, all)
	answers := map[string]string{}
	for _, batch := range h.batches(all) {
		h.live(t, func(t *testing.T) { play(t, h, batch, answers) })
	}
	for _, s := range all {
		t.Run(s.key, func(t *testing.T) {
			if fault := s.fault(answers[s.key], deviations[s.key]); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// batches are the scenarios that are played on one clock: all of them if time is
// real, so that one wait serves all; else those that share a container, and each
// of the others by itself, so that few stores are open at a time.
func (h Harness) batches(all []scenario) [][]scenario {
	if !h.FakeTime {
		return [][]scenario{all}
	}
	batches := [][]scenario{nil}
	for _, s := range all {
		if s.own {
			batches = append(batches, []scenario{s})
		} else {
			batches[0] = append(batches[0], s)
		}
	}
	return batches
}

// deviations are those of the harness by key; one without a scenario is wrong.
func (h Harness) deviations(t *testing.T, all []scenario) map[string]*Deviation {
	byKey := map[string]*Deviation{}
	for i, d := range h.Deviations {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.key == d.Case }) {
			t.Errorf("deviation %d: there is no scenario %q", d.Number, d.Case)
		}
		byKey[d.Case] = &h.Deviations[i]
	}
	return byKey
}

// fault is what is wrong with an answer; "" if nothing is. A deviation that does
// not show is wrong too.
func (s scenario) fault(got string, d *Deviation) string {
	right := slices.Contains(s.want, got)
	switch {
	case d != nil && right:
		return fmt.Sprintf("got %q, which is right: deviation %d is gone, take it off the list", got, d.Number)
	case d != nil && got != d.Answer:
		return fmt.Sprintf("got %q, want deviation %d: %q", got, d.Number, d.Answer)
	case d == nil && !right:
		return fmt.Sprintf("got %q, want %s", got, oneOf(s.want))
	}
	return ""
}

func oneOf(want []string) string {
	quoted := make([]string, len(want))
	for i, w := range want {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(quoted, " or ")
}

// actor is a scenario that is being played.
type actor struct {
	scenario
	w    *world
	next int       // index of the step to come
	due  time.Time // when it may come
}

// play lets the scenarios act in the order in which their steps come due, on one
// clock. A step is due its wait after the one before it was done.
func play(t *testing.T, h Harness, all []scenario, answers map[string]string) {
	actors := cast(t, h, all)
	for len(actors) > 0 {
		slices.SortStableFunc(actors, func(a, b *actor) int { return a.due.Compare(b.due) })
		a := actors[0]
		time.Sleep(time.Until(a.due))
		if answer, done := a.act(); done {
			answers[a.key] = answer
			actors = actors[1:]
		}
	}
}

// cast gives each scenario a blob of its own, or a container if it needs one.
func cast(t *testing.T, h Harness, all []scenario) []*actor {
	actors := make([]*actor, len(all))
	var shared store.Store
	for i, s := range all {
		w := &world{ctx: t.Context(), store: shared, blob: fmt.Sprintf("blob-%03d", i)}
		if s.own || shared == nil {
			w.store = open(t, h)
		}
		if s.own {
			w.blob = ""
		} else {
			shared = w.store
		}
		actors[i] = &actor{scenario: s, w: w, due: time.Now().Add(s.steps[0].wait)}
	}
	return actors
}

// act takes the next step; done tells that it was the last one.
func (a *actor) act() (answer string, done bool) {
	answer = a.steps[a.next].act(a.w)
	a.next++
	switch {
	case a.next == len(a.steps):
		return answer, true
	case answer != "":
		return "prepare: " + answer, true
	}
	a.due = time.Now().Add(a.steps[a.next].wait)
	return "", false
}
