package model_test

import (
	"context"
	"fmt"
	"log"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/model"
)

func Example() {
	r, err := model.Measure(context.Background(), 1000, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.ParseAllocsPerEvent <= 2, r.KeptPerByte <= 3, r.SelectStatusEvents)
	// Output: true true 25
}
