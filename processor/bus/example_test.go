package bus_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

// What a worker rings after it has created two events, and what such a doorbell
// is on the wire.
func ExampleBus() {
	var b bus.Bus = membus.New()
	defer b.Close()
	bells := []bus.Doorbell{
		{Stream: "order-42", Event: "01.00", Step: "SearchStart"},
		{Stream: "order-42", Event: "02.00", Step: "SearchStart"},
	}
	if err := b.Ring(context.Background(), bells...); err != nil {
		fmt.Println("workers find the events by polling:", err)
	}
	data, err := json.Marshal(bells[0])
	fmt.Println(string(data), err)
	// Output: {"stream":"order-42","event":"01.00","step":"SearchStart"} <nil>
}
