package measure_test

import (
	"fmt"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

func Example() {
	type round struct{ Seconds, JobsPerS float64 }
	fmt.Printf("%+v\n", measure.Medians([]round{{0.5, 2000}, {0.4, 2500}, {3.2, 312.5}}))
	// Output: {Seconds:0.5 JobsPerS:2000}
}
