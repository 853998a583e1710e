package memstore_test

import (
	"context"
	"fmt"

	"github.com/leasestream/leasestream/scope/store/memstore"
)

func Example() {
	ctx := context.Background()
	s := memstore.New(nil)
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	for _, name := range []string{"streams/b.xml", "streams/a.xml", "locks/sweep"} {
		if _, err := s.Put(ctx, name, []byte("…"), nil); err != nil {
			fmt.Println(err)
		}
	}
	for info, err := range s.List(ctx, "streams/") {
		fmt.Println(info.Name, info.Size, info.Lease.State, err)
	}
	// Output:
	// streams/a.xml 3 available <nil>
	// streams/b.xml 3 available <nil>
}
