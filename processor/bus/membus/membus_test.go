package membus_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

func TestBus(t *testing.T) {
	bustest.Run(t, bustest.Harness{
		Open: func(testing.TB) func() bus.Bus {
			first := membus.New()
			return func() bus.Bus { return first.Join() }
		},
		FakeTime: true,
	})
}

// A listener that is stuck costs memory up to a limit. It hears again what is
// rung after it has caught up.
func TestListen_FarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New()
		ctx, cancel := context.WithCancel(t.Context())
		free, done := make(chan struct{}), make(chan error, 1)
		heard := map[bus.Doorbell]int{}
		go func() {
			done <- b.Listen(ctx, []string{"Search"}, func(bell bus.Doorbell) {
				<-free
				heard[bell]++
			})
		}()
		ring := func(event string) {
			t.Helper()
			if err := b.Ring(ctx, bus.Doorbell{Stream: "order-42", Event: event, Step: "Search"}); err != nil {
				t.Errorf("Ring() = %v, want nil", err)
			}
			if event == "first" {
				synctest.Wait()
			}
		}
		synctest.Wait()
		ring("first")
		const kept = 1 << 14
		for n := range 20_000 {
			ring(fmt.Sprint(n))
			ring(fmt.Sprint(n))
		}
		close(free)
		synctest.Wait()
		if got, want := len(heard), 1+kept; got != want {
			t.Errorf("%d doorbells were kept, want %d", got, want)
		}
		ring("last")
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Listen() = %v, want nil", err)
		}
		for bell, times := range heard {
			if times != 1 {
				t.Errorf("%+v was heard %d times, want once", bell, times)
			}
		}
		if last := (bus.Doorbell{Stream: "order-42", Event: "last", Step: "Search"}); heard[last] != 1 {
			t.Error("nothing was heard any more")
		}
	})
}

func TestRing_TakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := membus.New()
		var heard [3]int
		for i := range heard {
			go b.Listen(t.Context(), []string{"Search"}, func(bus.Doorbell) { heard[i]++ }) // ends with the bubble
		}
		synctest.Wait()
		for n := range 30 {
			if err := b.Ring(t.Context(), bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(n), Step: "Search"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if want := [3]int{10, 10, 10}; heard != want {
			t.Errorf("three listeners heard %v of 30 doorbells, want %v", heard, want)
		}
	})
}
