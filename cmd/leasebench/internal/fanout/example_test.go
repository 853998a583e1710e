package fanout_test

import (
	"context"
	"fmt"
	"log"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
)

func Example() {
	ctx := context.Background()
	p, err := fanout.Open(ctx, fanout.Config{Store: "mem:", Name: "example", N: 100, Workers: 8})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Start(ctx); err != nil {
		log.Fatal(err)
	}
	sum, err := p.Await(ctx)
	if err != nil {
		log.Fatal(err)
	}
	report, err := p.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Jobs, sum, sum == fanout.Sum(100))
	// Output: 100 5050 true
}
