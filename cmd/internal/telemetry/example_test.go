package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
)

// Nothing is traced or measured unless the environment asks for it.
func Example() {
	t, err := telemetry.Start(context.Background(), &telemetry.Options{
		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close(context.Background())
	fmt.Println(t.Traces, t.Meters)
	// Output: <nil> <nil>
}
