package natsbus_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/natsbus"
)

func ExampleConnect() {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(20 * time.Second) {
		fmt.Println("no server")
		return
	}

	b, err := natsbus.Connect(s.ClientURL(), &natsbus.Options{Prefix: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	err = b.Ring(context.Background(), bus.Doorbell{Stream: "order-42", Event: "01.00", Step: "Search"})
	fmt.Println("rung:", err)
	// Output: rung: <nil>
}
