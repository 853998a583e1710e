package paper_test

import (
	"fmt"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/paper"
)

// A million edits of documents one at a time, each of which acquires the lease,
// reads, writes and releases.
func Example() {
	const edits = 1_000_000
	bill := paper.Bill{Writes: edits, Reads: edits, Others: 2 * edits}
	fmt.Printf("$%.2f\n", paper.Assumed().Cost(bill))
	// Output: $6.82
}
