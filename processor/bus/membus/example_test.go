package membus_test

import (
	"context"
	"fmt"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

func Example() {
	here := membus.New()
	there := here.Join()
	defer here.Close()
	defer there.Close()

	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan bus.Doorbell, 1)
	done := make(chan error)
	go func() {
		done <- there.Listen(ctx, []string{"Search"}, func(b bus.Doorbell) {
			select {
			case heard <- b:
			default:
			}
		})
	}()

	// Nobody knows when a listener has begun, and a doorbell may be lost.
	for rung := false; !rung; {
		if err := here.Ring(ctx, bus.Doorbell{Stream: "order-42", Event: "01.00", Step: "Search"}); err != nil {
			fmt.Println(err)
		}
		select {
		case b := <-heard:
			fmt.Printf("event %s of %s waits for %s\n", b.Event, b.Stream, b.Step)
			rung = true
		default:
		}
	}
	cancel()
	fmt.Println(<-done)
	// Output:
	// event 01.00 of order-42 waits for Search
	// <nil>
}
