// Command concurrency shows what a store does when two people change one blob, by
// each of the strategies there are: the last writer wins, optimistic with ETags,
// pessimistic with leases; and what a lease does to reads, and to the container.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("concurrency", flag.ContinueOnError)
	path := flags.String("store", "", "a SQLite `file` to work in, without blobs; default: in memory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	st, err := open(*path)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Create(ctx); err != nil {
		return err
	}
	if err := mustBeEmpty(ctx, st); err != nil {
		return err
	}

	w, r := wiki{st}, &report{out: out}
	lastWriterWins(ctx, w, r)
	optimistic(ctx, w, r)
	pessimistic(ctx, w, r)
	reads(ctx, w, r)
	container(ctx, w, r)
	return r.err
}

func open(path string) (store.Store, error) {
	if path == "" {
		return memstore.New(nil), nil
	}
	st, err := sqlitestore.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return st, nil
}

// mustBeEmpty guards what others keep in the store: the container is deleted at
// the end.
func mustBeEmpty(ctx context.Context, st store.Store) error {
	for info, err := range st.List(ctx, "") {
		if err != nil {
			return err
		}
		return fmt.Errorf("the store has blobs, such as %q, and this sample deletes its container: give it a file of its own", info.Name)
	}
	return nil
}
