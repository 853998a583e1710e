package wire_test

import (
	"context"
	"fmt"

	"github.com/leasestream/leasestream/cmd/internal/wire"
)

func Example() {
	s, err := wire.OpenStore(context.Background(), "mem:", &wire.StoreOptions{Create: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(wire.Redact("https://orders.blob.core.windows.net/runs?sv=2024-11-04&sig=Zm9v"))
	// Output: https://orders.blob.core.windows.net/runs?…
}
