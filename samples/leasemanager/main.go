// Command leasemanager edits several maps, each under a lease that is kept for as
// long as the work takes. Somebody breaks one lease, and the work on that map
// stops. Then the process dies. The one that follows it adopts by its ID the lease
// of the map that nobody has touched meanwhile; the one of a map that somebody has
// touched it cannot.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

const (
	canada = "canada.map" // its lease is adopted
	mexico = "mexico.map" // its lease is broken
	norway = "norway.map" // is changed while nobody holds its lease
)

var maps = []string{canada, mexico, norway}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("leasemanager", flag.ContinueOnError)
	lease := flags.Duration("lease", store.MinLease, "how long a lease lasts without a renewal, from 15s to 60s")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lease < store.MinLease || *lease > store.MaxLease {
		return fmt.Errorf("%w: -lease %v is not between %v and %v", store.ErrInvalid, *lease, store.MinLease, store.MaxLease)
	}
	st := memstore.New(nil)
	if err := prepare(ctx, st); err != nil {
		return err
	}
	colleague := scope.New(st, nil)
	defer colleague.Close()
	diary := &diary{out: out, began: time.Now()}

	notes, err := firstLife(ctx, st, colleague, *lease, diary)
	if err != nil {
		return err
	}
	if err := change(ctx, colleague, norway); err != nil {
		return err
	}
	diary.say("a colleague found the lease of %s free, and changed the map", norway)
	time.Sleep(time.Second) // so that the lease of the other map has run out too
	if err := secondLife(ctx, st, *lease, notes, diary); err != nil {
		return err
	}
	return diary.show(ctx, st)
}

// prepare makes the maps, on which nothing is drawn yet.
func prepare(ctx context.Context, st store.Store) error {
	if err := st.Create(ctx); err != nil {
		return err
	}
	for _, name := range maps {
		if _, err := st.Put(ctx, name, []byte("coast"), nil); err != nil {
			return err
		}
	}
	return nil
}

// firstLife is the process that takes the maps, draws, and dies before it has
// saved anything. It leaves its notes.
func firstLife(ctx context.Context, st store.Store, colleague *scope.Scope, lease time.Duration, diary *diary) ([]draft, error) {
	e := newEditor("process 1", st, lease, diary)
	defer e.crash()
	drafts, err := e.openAll(ctx)
	if err != nil {
		return nil, err
	}

	// All maps are drawn at once, each until it is done or its lease has ended.
	var drawing sync.WaitGroup
	for i := range drafts {
		drawing.Go(func() { e.draw(&drafts[i], lease/5) })
	}
	time.Sleep(lease / 2)
	diary.say("a colleague breaks the lease of %s", mexico)
	_, err = st.Lease(ctx, mexico, &store.LeaseRequest{Action: store.LeaseBreak})
	drawing.Wait()
	if err != nil {
		return nil, err
	}

	notes := slices.DeleteFunc(drafts, func(d draft) bool { return !e.keeper.Has(d.Map) })
	for _, d := range notes {
		diary.say("%s has drawn %d strokes on %s and still has the lease", e.name, d.Strokes, d.Map)
	}
	ok, err := colleague.NewKeeper(nil).Try(ctx, canada)
	diary.say("a colleague asks for the lease of %s; granted: %t", canada, ok)
	return notes, err
}

// change is what a colleague does to a map: it waits until nobody holds the lease.
func change(ctx context.Context, colleague *scope.Scope, name string) error {
	return colleague.Run(ctx, name, func(ctx context.Context, h *scope.Held) error {
		object, err := h.Get(ctx)
		if err != nil {
			return err
		}
		return h.Put(ctx, fmt.Append(object.Body, ", fjords"), nil)
	}, nil)
}

// secondLife is the process after the restart. It goes on with those drafts whose
// lease it can adopt, and begins anew with the others.
func secondLife(ctx context.Context, st store.Store, lease time.Duration, notes []draft, diary *diary) error {
	e := newEditor("process 2", st, lease, diary)
	defer e.scope.Close()
	for _, d := range notes {
		if err := e.resume(ctx, d); err != nil {
			return err
		}
	}
	diary.say("%s gives its leases back", e.name)
	return e.keeper.Close()
}
