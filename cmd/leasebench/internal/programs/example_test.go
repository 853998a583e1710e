package programs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/programs"
)

func Example() {
	r, err := programs.Measure(context.Background(), 10, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.StepUS > 0, r.BareUS > 0)
	// Output: true true
}
