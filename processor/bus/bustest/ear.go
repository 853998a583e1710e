package bustest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/processor/bus"
)

// ear is a listener and what it heard.
type ear struct {
	w      *world
	own    string // the step that only this one listens for; "" if it has none
	hook   func(bus.Doorbell)
	cancel context.CancelFunc
	done   chan struct{} // closed when Listen has returned
	err    error         // what it returned

	mu      sync.Mutex // guards the fields below
	up      bool       // it heard its own step
	heard   map[bus.Doorbell]bool
	calling bool
	overlap bool // it was called while it was being called
}

// listen starts a listener and waits until it listens.
func (w *world) listen(b bus.Bus, steps ...string) *ear {
	w.t.Helper()
	w.listeners++
	e := &ear{own: fmt.Sprintf("own-%d", w.listeners)}
	w.start(b, e, append(slices.Clone(steps), e.own))
	return e
}

// listenHooked calls hook with each doorbell for the steps, on the goroutine of
// the bus.
func (w *world) listenHooked(b bus.Bus, hook func(bus.Doorbell), step string) *ear {
	w.t.Helper()
	e := &ear{own: "own-hooked", hook: hook}
	w.start(b, e, []string{step, e.own})
	return e
}

// listenNone listens for no step at all.
func (w *world) listenNone(b bus.Bus) *ear {
	w.t.Helper()
	e := new(ear)
	w.start(b, e, nil)
	return e
}

func (w *world) start(b bus.Bus, e *ear, steps []string) {
	w.t.Helper()
	e.w, e.done, e.heard = w, make(chan struct{}), map[bus.Doorbell]bool{}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	go func() { // ends with ctx, which the cleanup ends
		defer close(e.done)
		e.err = b.Listen(ctx, steps, e.hear)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-e.done
	})
	until(w.t, func() bool {
		w.ring(b, bell(e.own, 0))
		return e.isUp()
	}, "a listener for %.100q heard nothing", steps)
}

func (e *ear) hear(bell bus.Doorbell) {
	e.enter()
	if e.hook != nil && bell.Step != e.own {
		e.hook(bell)
	}
	e.leave(bell)
}

func (e *ear) enter() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.overlap = e.overlap || e.calling
	e.calling = true
}

func (e *ear) leave(bell bus.Doorbell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calling = false
	if bell.Step == e.own {
		e.up = true
		return
	}
	e.heard[bell] = true
}

func (e *ear) isUp() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.up
}

func (e *ear) overlaps() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overlap
}

func (e *ear) has(bell bus.Doorbell) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard[bell]
}

// want waits until this listener has heard all of the doorbells.
func (e *ear) want(bells ...bus.Doorbell) {
	e.w.t.Helper()
	wantAmong(e.w.t, bells, e)
}

// wantOnly checks that nothing was heard but for the steps.
func (e *ear) wantOnly(steps ...string) {
	e.w.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for b := range e.heard {
		if !slices.Contains(steps, b.Step) {
			e.w.t.Errorf("a listener for %.100q heard %+v", steps, b)
		}
	}
}

// end ends the context and returns what Listen returned.
func (e *ear) end() error {
	e.w.t.Helper()
	e.cancel()
	return e.ended()
}

// ended waits for the end of Listen and returns what it returned.
func (e *ear) ended() error {
	e.w.t.Helper()
	until(e.w.t, func() bool {
		select {
		case <-e.done:
			return true
		default:
			return false
		}
	}, "Listen did not return")
	return e.err
}

// wantAmong waits until each of the doorbells was heard by one of the listeners.
func wantAmong(t *testing.T, bells []bus.Doorbell, ears ...*ear) {
	t.Helper()
	for _, bell := range bells {
		heard := func() bool {
			return slices.ContainsFunc(ears, func(e *ear) bool { return e.has(bell) })
		}
		until(t, heard, "%.300s was not heard", fmt.Sprintf("%+v", bell))
	}
}
