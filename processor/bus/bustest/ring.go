package bustest

import (
	"context"
	"sync"

	"github.com/leasestream/leasestream/processor/bus"
)

func ringNobody(w *world) {
	a := w.bus()
	w.ring(a)
	w.ring(a, bell("Search", 1), bus.Doorbell{Stream: "order-42"})
	e := w.listen(a, "Done")
	w.ring(a, bell("Search", 2))
	e.end()
	w.ring(a, bell("Done", 3))
}

// ringSlow has a listener that does not return from its first call until the
// others have been served. It must hear again afterwards, though not all that
// was rung meanwhile.
func ringSlow(w *world) {
	a, b := w.bus(), w.bus()
	free, stuck := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(free) })
	defer release()
	slow := w.listenHooked(a, blockOnce(stuck, free), "Slow")
	quick, other := w.listen(a, "Search"), w.listen(b, "Done")
	w.ring(b, bell("Slow", 0))
	<-stuck
	const rounds, each = 20, 100
	for i := range rounds {
		w.ring(a, bells("Slow", 1+i*each, 1+(i+1)*each)...)
		w.ring(b, bell("Search", i), bell("Done", i))
	}
	quick.want(bells("Search", 0, rounds)...)
	other.want(bells("Done", 0, rounds)...)
	release()
	slow.want(bell("Slow", 0))
	last := bell("Slow", -1)
	until(w.t, func() bool {
		w.ring(b, last)
		return slow.has(last)
	}, "the slow listener did not recover")
}

// blockOnce returns a function that blocks in its first call: from when stuck is
// closed until free is.
func blockOnce(stuck chan<- struct{}, free <-chan struct{}) func(bus.Doorbell) {
	var once sync.Once
	return func(bus.Doorbell) {
		once.Do(func() {
			close(stuck)
			<-free
		})
	}
}

// ringConcurrent rings from all buses at once while others begin and end to
// listen. Those that stay must hear what is rung for them alone.
func ringConcurrent(w *world) {
	const ringers, each = 4, 50
	buses := []bus.Bus{w.bus(), w.bus(), w.bus()}
	stay := []*ear{w.listen(buses[0], "Search"), w.listen(buses[1], "Done")}
	var wg sync.WaitGroup
	for r := range ringers {
		wg.Go(func() {
			for i := range each {
				n := r*each + i
				w.ring(buses[n%len(buses)], bell("Search", n), bell("Done", n), bell("Other", n), bus.Doorbell{Stream: "order-42"})
			}
		})
		wg.Go(func() {
			for i := range each / 10 {
				brief(w, buses[(r+i)%len(buses)])
			}
		})
	}
	wg.Wait()
	stay[0].want(bells("Search", 0, ringers*each)...)
	stay[1].want(bells("Done", 0, ringers*each)...)
	for _, e := range stay {
		if e.overlaps() {
			w.t.Error("a listener was called while it was being called")
		}
	}
}

// brief listens until the first doorbell or for ten of its own.
func brief(w *world, b bus.Bus) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var listening sync.WaitGroup
	listening.Go(func() {
		if err := b.Listen(ctx, []string{"Other"}, func(bus.Doorbell) { cancel() }); err != nil {
			w.t.Errorf("Listen() = %v, want nil", err)
		}
	})
	for range 10 {
		w.ring(b, bell("Other", 0))
	}
	cancel()
	listening.Wait()
}
