package rules_test

import (
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// A lease is a value that ends by itself: its state depends on the time alone.
func Example() {
	now := time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)
	request := &store.LeaseRequest{Action: store.LeaseAcquire, ID: idA, Duration: 15 * time.Second}

	lease, err := rules.Lease{}.Operate(request, now)
	fmt.Println(lease.State(now), err)

	later := now.Add(15 * time.Second)
	_, err = lease.CheckWrite(rules.OnBlob, idA, later)
	fmt.Println(lease.State(later), store.Code(err))
	// Output:
	// leased <nil>
	// expired LeaseLost
}
