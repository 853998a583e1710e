package bustest_test

import (
	"context"
	"fmt"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

// A bus whose doorbells cannot be relied upon. The listener hears some of them,
// some twice, some late, and a system under test must come to the right end all
// the same.
func ExampleChaos() {
	b := bustest.Chaos(membus.New(), 42)
	defer b.Close()
	for n := range 10 {
		err := b.Ring(context.Background(), bus.Doorbell{Stream: "order-42", Event: fmt.Sprintf("%02d", n), Step: "Search"})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("rung")
	// Output: rung
}
