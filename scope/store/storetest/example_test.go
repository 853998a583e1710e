package storetest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// A Put is carried out and its answer is lost. The caller cannot tell, looks, and
// finds its write.
func ExampleFaults() {
	ctx := context.Background()
	lost := errors.New("connection reset")
	s := storetest.NewFaults(memstore.New(nil), func(c storetest.Call) (apply bool, err error) {
		if c.Op == "put" && c.N == 2 {
			return true, lost
		}
		return true, nil
	})
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	_, err := s.Put(ctx, "a", []byte("new"), nil)
	fmt.Println(err, errors.Is(err, store.ErrExists))
	object, err := s.Get(ctx, "a", nil)
	fmt.Printf("%s %v\n", object.Body, err)
	fmt.Println(s.Counts())
	// Output:
	// put "a": connection reset false
	// new <nil>
	// map[create:1 get:1 put:1]
}
