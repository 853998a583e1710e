package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// Two writers read the same version of a blob. The ETag lets the first one
// through and tells the second that it is late.
func Example_optimistic() {
	ctx := context.Background()
	var s store.Store = memstore.New(nil)
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	first, err := s.Put(ctx, "streams/order-42.xml", []byte("<EventStream/>"), nil)
	if err != nil {
		fmt.Println(err)
	}
	unchanged := store.PutOptions{Conditions: store.Conditions{IfMatch: first.ETag}}
	for _, writer := range []string{"first", "second"} {
		_, err := s.Put(ctx, "streams/order-42.xml", []byte(writer), &unchanged)
		fmt.Printf("%s: conflict %t, %v\n", writer, errors.Is(err, store.ErrConditionNotMet), err)
	}
	// Output:
	// first: conflict false, <nil>
	// second: conflict true, put "streams/order-42.xml": condition not met (ConditionNotMet)
}

// While a blob is leased, only requests that name the lease may change it.
func Example_lease() {
	ctx := context.Background()
	s := memstore.New(nil)
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	if _, err := s.Put(ctx, "a", nil, nil); err != nil {
		fmt.Println(err)
	}
	lease, err := s.Lease(ctx, "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
	if err != nil {
		fmt.Println(err)
	}
	_, err = s.Put(ctx, "a", nil, nil)
	fmt.Println(err)
	_, err = s.Put(ctx, "a", nil, &store.PutOptions{Conditions: store.Conditions{LeaseID: lease.ID}})
	fmt.Println(err)
	// Output:
	// put "a": blob is leased and no lease ID was given (LeaseIdMissing)
	// <nil>
}

// shouting is a decorator: what it stores is in capitals. It stays local, if the store
// beneath is, and leaves pieces out, so that all bodies come through Put.
type shouting struct{ store.Store }

func (s shouting) Local() bool { return store.IsLocal(s.Store) }

func (s shouting) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	return s.Store.Put(ctx, name, bytes.ToUpper(body), o)
}

// A decorator embeds the interface, not the driver.
func Example_decorator() {
	ctx := context.Background()
	s := shouting{memstore.New(nil)}
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	if _, _, err := store.PutPieces(ctx, s, "a", []string{"in ", "pieces"}, nil, nil); err != nil {
		fmt.Println(err)
	}
	object, err := s.Get(ctx, "a", nil)
	if err != nil {
		fmt.Println(err)
	}
	_, keepsPieces := store.Store(s).(store.Piecewise)
	fmt.Println(string(object.Body), store.IsLocal(s), keepsPieces)
	// Output: IN PIECES true false
}
