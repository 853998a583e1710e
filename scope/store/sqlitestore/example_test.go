package sqlitestore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// Every process that opens the same file sees the same blobs and leases.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := sqlitestore.Open(filepath.Join(dir, "leasestream.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if err := s.Create(ctx); err != nil {
		fmt.Println(err)
	}
	if _, err := s.Put(ctx, "streams/a.xml", []byte("<EventStream/>"), nil); err != nil {
		fmt.Println(err)
	}
	acquire := &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease}
	for _, who := range []string{"one", "another"} {
		_, err := s.Lease(ctx, "streams/a.xml", acquire)
		fmt.Printf("%s: %v\n", who, err)
	}
	// Output:
	// one: <nil>
	// another: acquire "streams/a.xml": lease is held (LeaseAlreadyPresent)
}
