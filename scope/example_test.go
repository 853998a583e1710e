package scope_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// example returns a scope over a store in memory with one empty blob.
func example(name string) *scope.Scope {
	ctx := context.Background()
	st := memstore.New(nil)
	if err := st.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := st.Put(ctx, name, nil, nil); err != nil {
		log.Fatal(err)
	}
	return scope.New(st, nil)
}

func Example() {
	ctx := context.Background()
	s := example("streams/order-42.xml")
	defer s.Close()

	result, err := s.Edit(ctx, "streams/order-42.xml", func(stream *eventstream.Stream) error {
		root, err := stream.AppendRoot(eventstream.NewEvent{Name: "OrderStart"})
		if err != nil {
			return err
		}
		_, err = stream.Next(root, eventstream.NewEvent{Name: "Search"})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range result.Created {
		fmt.Println(e.ID, e.Topic)
	}
	// Output:
	// 00 OrderStart
	// 01 Search
}

func ExampleScope_Run() {
	ctx := context.Background()
	s := example("counter")
	defer s.Close()

	for range 3 {
		err := s.Run(ctx, "counter", func(ctx context.Context, h *scope.Held) error {
			object, err := h.Get(ctx)
			if err != nil {
				return err
			}
			return h.Put(ctx, append(object.Body, '|'), nil)
		}, nil)
		if err != nil {
			log.Fatal(err)
		}
	}
	object, err := s.Store().Get(ctx, "counter", nil)
	fmt.Println(string(object.Body), err)
	// Output: ||| <nil>
}

func ExampleScope_Hold() {
	ctx := context.Background()
	s := example("locks/nightly")
	defer s.Close()

	lease, err := s.Hold(ctx, "locks/nightly", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Hold(ctx, "locks/nightly", &scope.HoldOptions{Wait: 10 * time.Millisecond})
	fmt.Println("held by someone else:", errors.Is(err, store.ErrLeaseHeld))
	// … work that ends with lease.Context() …
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// held by someone else: true
	// released: true
}

func ExampleKeeper() {
	ctx := context.Background()
	s := example("locks/a")
	defer s.Close()

	keeper := s.NewKeeper(&scope.HoldOptions{Create: true})
	defer keeper.Close()
	for _, name := range []string{"locks/a", "locks/b"} {
		ok, err := keeper.Try(ctx, name)
		fmt.Println(name, ok, err)
	}
	fmt.Println(keeper.Has("locks/b"), keeper.Has("locks/c"))
	// Output:
	// locks/a true <nil>
	// locks/b true <nil>
	// true false
}
