package webbus_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

// Two workers with one token. The second one's URL would be found in its blob.
func ExampleBus() {
	there, err := webbus.New("a-shared-token", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer there.Close()
	server := httptest.NewServer(there)
	defer server.Close()

	here, err := webbus.New("a-shared-token", &webbus.Options{
		Peers: func(_ context.Context, bell bus.Doorbell) ([]string, error) {
			fmt.Println("who serves", bell.Step)
			return []string{server.URL}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer here.Close()

	err = here.Ring(context.Background(), bus.Doorbell{Stream: "order-42", Event: "01.00", Step: "Search"})
	fmt.Println("rung:", err)
	// Output:
	// who serves Search
	// rung: <nil>
}
