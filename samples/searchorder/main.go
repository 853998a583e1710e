// Command searchorder runs the order search: an order is searched for at four
// suppliers in parallel, and what they find decides at run time which searches
// follow. One supplier fails and one does not answer in time; the order is answered
// all the same.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	st := memstore.New(nil)
	if err := st.Create(ctx); err != nil {
		return err
	}
	sc := scope.New(st, nil)
	defer sc.Close()
	pipeline, err := newPipeline(ask, time.Second)
	if err != nil {
		return err
	}
	p := processor.New(sc, nil)
	order, err := p.Start(ctx, pipeline, json.RawMessage(`{"item":"bicycle"}`), &processor.StartOptions{Name: "order-42"})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	worked := make(chan error, 1)
	go func() { worked <- p.Work(ctx, nil, pipeline) }()
	end, err := p.Await(ctx, order.Name, nil)
	stop()
	if workErr := <-worked; workErr != nil {
		return workErr
	}
	if err != nil {
		return err
	}

	snapshot, err := p.Read(context.WithoutCancel(ctx), order.Name)
	if err != nil {
		return err
	}
	for e := range snapshot.Stream.Events() {
		fmt.Fprintf(out, "%-9s %-11s %s\n", e.ID(), e.Name(), describe(e))
	}
	fmt.Fprintf(out, "%s: %s\n", order.Name, end.Output)
	return nil
}

func describe(e *eventstream.Event) string {
	if msg := e.Msg(); msg != "" {
		return e.Status().String() + ": " + msg
	}
	return e.Status().String()
}
