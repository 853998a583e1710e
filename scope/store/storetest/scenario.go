package storetest

import (
	"errors"
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
	deviations, answers := h.deviations(t, all), map[string]string{}
	if h.FakeTime {
		onBlobs, onContainers := byTarget(all)
		h.live(t, func(t *testing.T) { play(cast(t, h, onBlobs), answers) })
		h.live(t, func(t *testing.T) { playInTurn(t, h, onContainers, answers) })
	} else {
		play(cast(t, h, all), answers)
	}
	for _, s := range all {
		t.Run(s.key, func(t *testing.T) {
			if fault := s.fault(answers[s.key], deviations[s.key]); fault != "" {
				t.Error(fault)
			}
		})
	}
}

func byTarget(all []scenario) (onBlobs, onContainers []scenario) {
	for _, s := range all {
		if s.own {
			onContainers = append(onContainers, s)
		} else {
			onBlobs = append(onBlobs, s)
		}
	}
	return onBlobs, onContainers
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

// play lets the scenarios act on one clock, so that one wait serves all that
// have to wait. A step is due its wait after the one before it was done. Those
// that are due come before those that have not begun, or a slow store would make
// the waits longer than they should be.
func play(actors []*actor, answers map[string]string) {
	for len(actors) > 0 {
		i := upNext(actors)
		a := actors[i]
		time.Sleep(time.Until(a.due))
		if answer, done := a.act(); done {
			answers[a.key] = answer
			actors = slices.Delete(actors, i, i+1)
		}
	}
}

// upNext is the index of the actor that acts next.
func upNext(actors []*actor) int {
	now, next := time.Now(), 0
	for i, a := range actors {
		if a.dueAt(now).Before(actors[next].dueAt(now)) {
			next = i
		}
	}
	return next
}

// dueAt is when the actor may act; one that has not begun is never late.
func (a *actor) dueAt(now time.Time) time.Time {
	if a.next == 0 && a.due.Before(now) {
		return now
	}
	return a.due
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
		actors[i] = newActor(s, w)
	}
	return actors
}

// playInTurn plays scenarios about containers one after the other on the same
// store, whose container is made anew for each: opening a store costs more.
func playInTurn(t *testing.T, h Harness, all []scenario, answers map[string]string) {
	s := open(t, h)
	for _, scenario := range all {
		play([]*actor{newActor(scenario, &world{ctx: t.Context(), store: s})}, answers)
		_, _ = s.Lease(t.Context(), "", new(breakAfter(0))) // it may be free, or gone
		if err := s.Delete(t.Context(), "", nil); err != nil && !errors.Is(err, store.ErrContainerNotFound) {
			t.Fatalf("Delete() of the container after %s = %v", scenario.key, err)
		}
		if err := s.Create(t.Context()); err != nil {
			t.Fatalf("Create() after %s = %v", scenario.key, err)
		}
	}
}

func newActor(s scenario, w *world) *actor {
	return &actor{scenario: s, w: w, due: time.Now().Add(s.steps[0].wait)}
}

// act goes on until a step has to wait: nothing comes between the others, however
// slow the store and however many the scenarios. done tells that it was the last.
func (a *actor) act() (answer string, done bool) {
	for {
		answer = a.steps[a.next].act(a.w)
		a.next++
		switch {
		case a.next == len(a.steps):
			return answer, true
		case answer != "":
			return "prepare: " + answer, true
		case a.steps[a.next].wait > 0:
			a.due = time.Now().Add(a.steps[a.next].wait)
			return "", false
		}
	}
}
