package processortest_test

import (
	"fmt"
	"log"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/processortest"
)

func ExampleOutline() {
	now := time.Now()
	s, err := eventstream.New(now, eventstream.Start{Name: "order", Run: "r1", Root: eventstream.NewEvent{Name: "Charge"}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Edit(now, func() error { return s.Complete(s.Root(), eventstream.JSON([]byte(`"paid"`))) })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(processortest.Outline(s))
	// Output: 00 Charge completed "paid"
}
