package bustest

import (
	"context"

	"github.com/leasestream/leasestream/processor/bus"
)

func listenEnds(w *world) {
	a := w.bus()
	goes, stays := w.listen(a, "Search"), w.listen(a, "Done")
	if err := goes.end(); err != nil {
		w.t.Errorf("Listen() = %v after its context ended, want nil", err)
	}
	w.ring(a, bell("Search", 1), bell("Done", 2))
	stays.want(bell("Done", 2))
	goes.wantOnly()

	ended, cancel := context.WithCancel(w.t.Context())
	cancel()
	if err := a.Listen(ended, []string{"Search"}, func(bus.Doorbell) {}); err != nil {
		w.t.Errorf("Listen() with an ended context = %v, want nil", err)
	}
}

// listenNoMore ends a context in the first of many calls.
func listenNoMore(w *world) {
	a := w.bus()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	calls := make(chan struct{}, 1000)
	done := make(chan error, 1)
	go func() { // ends with ctx; its end is waited for below
		done <- a.Listen(ctx, []string{"Search"}, func(bus.Doorbell) {
			cancel()
			calls <- struct{}{}
		})
	}()
	until(w.t, func() bool {
		w.ring(a, bells("Search", 0, 50)...)
		return len(calls) > 0
	}, "a listener heard nothing")
	if err := <-done; err != nil {
		w.t.Errorf("Listen() = %v after its context ended, want nil", err)
	}
	if n := len(calls); n != 1 {
		w.t.Errorf("a listener whose context ended in the first call was called %d times", n)
	}
}

func listenAgain(w *world) {
	a, b := w.bus(), w.bus()
	for i := range 3 {
		e := w.listen(a, "Search", "Search")
		w.ring(b, bell("Search", i))
		e.want(bell("Search", i))
		if err := e.end(); err != nil {
			w.t.Errorf("Listen() = %v after its context ended, want nil", err)
		}
	}
}

func listenNone(w *world) {
	a := w.bus()
	e := w.listenNone(a)
	other := w.listen(a, "Search")
	w.ring(a, bell("Search", 1), bell("Done", 2))
	other.want(bell("Search", 1))
	if err := e.end(); err != nil {
		w.t.Errorf("Listen() = %v after its context ended, want nil", err)
	}
	e.wantOnly()
}

func closeEnds(w *world) {
	a := w.bus()
	ears := []*ear{w.listen(a, "Search"), w.listen(a, "Done"), w.listen(a)}
	for range 2 {
		if err := a.Close(); err != nil {
			w.t.Errorf("Close() = %v, want nil", err)
		}
	}
	for _, e := range ears {
		if e.ended() == nil {
			w.t.Error("Listen() = nil after Close, want an error")
		}
	}
	if a.Ring(w.t.Context(), bell("Search", 1)) == nil {
		w.t.Error("Ring() = nil after Close, want an error")
	}
	if a.Listen(w.t.Context(), []string{"Search"}, func(bus.Doorbell) {}) == nil {
		w.t.Error("Listen() = nil after Close, want an error")
	}
}

func closeOthers(w *world) {
	a, b := w.bus(), w.bus()
	e := w.listen(a, "Search")
	if err := b.Close(); err != nil {
		w.t.Errorf("Close() = %v, want nil", err)
	}
	w.ring(a, bell("Search", 1))
	e.want(bell("Search", 1))
}
