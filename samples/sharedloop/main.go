// Command sharedloop works off the events of one Event-Stream together with
// others of its kind: each takes an event that nobody has taken, marks it with its
// name, and completes it, until the run is done.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/xpath"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sharedloop", flag.ContinueOnError)
	path := flags.String("store", "leasestream.db", "the SQLite `file` that the processes share")
	blob := flags.String("blob", "streams/sharedloop.xml", "the `blob` of the stream")
	events := flags.Int("events", 10, "how many events the stream gets, if it is made")
	worker := flags.String("worker", fmt.Sprintf("worker-%d", os.Getpid()), "the `name` of this process")
	work := flags.Duration("work", 100*time.Millisecond, "how long this process does something else after each event")
	if err := flags.Parse(args); err != nil {
		return err
	}
	st, err := sqlitestore.Open(*path, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	sc := scope.New(st, nil)
	defer sc.Close()

	if err := initialise(ctx, sc, *blob, *events); err != nil {
		return err
	}
	for {
		id, done, err := completeOne(ctx, sc, *blob, *worker)
		if err != nil {
			return err
		}
		if id != "" {
			fmt.Fprintf(out, "%s completed %s\n", *worker, id)
		}
		if done {
			return nil
		}
		time.Sleep(*work)
	}
}

// initialise makes the stream: a root that waits for n events. Whoever comes
// first does it.
func initialise(ctx context.Context, sc *scope.Scope, blob string, n int) error {
	if err := sc.Store().Create(ctx); err != nil {
		return err
	}
	now := sc.Now()
	s, err := eventstream.New(now, eventstream.Start{Name: "sharedloop", Run: "1", Root: eventstream.NewEvent{Name: "Start"}})
	if err != nil {
		return err
	}
	branches := make([]eventstream.NewEvent, n)
	for i := range branches {
		branches[i].Name = "Work"
	}
	_, err = s.Edit(now, func() error {
		_, err := s.Split(s.Root(), branches, nil)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := sc.Create(ctx, blob, s); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	return nil
}

// completeOne takes and completes one event, in one edit. It returns its id, or
// "" if there was none left, and whether the run is done.
func completeOne(ctx context.Context, sc *scope.Scope, blob, worker string) (id string, done bool, err error) {
	_, err = sc.Edit(ctx, blob, func(s *eventstream.Stream) error {
		id, done = "", s.IsDone()
		e, err := xpath.Select(s, "./Event[@status='init']")
		if e == nil || err != nil {
			return err
		}
		if err := s.Update(e, "key", worker, "status", "completed"); err != nil {
			return err
		}
		id, done = e.ID(), s.IsDone()
		return nil
	})
	return id, done, err
}
