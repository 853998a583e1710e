package editing_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/editing"
)

func Example() {
	c := editing.Config{Store: "mem:", Workers: 4, Events: 10, Time: 50 * time.Millisecond}
	r, err := editing.Measure(context.Background(), c, editing.Ours)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.OK, r.Edits > 0)
	// Output: true true
}
