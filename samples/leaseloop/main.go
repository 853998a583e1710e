// Command leaseloop takes the lease of one blob again and again, and holds it for
// a moment each time. Run it several times at once: no two hold the lease at the
// same time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("leaseloop", flag.ContinueOnError)
	path := flags.String("store", "leasestream.db", "the SQLite `file` that the processes share")
	blob := flags.String("blob", "temp/eventstream", "the `blob` whose lease is taken")
	rounds := flags.Int("rounds", 10, "how often")
	hold := flags.Duration("hold", 500*time.Millisecond, "the longest time it is held")
	pause := flags.Duration("pause", 500*time.Millisecond, "the longest time between two rounds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	st, err := sqlitestore.Open(*path, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Create(ctx); err != nil {
		return err
	}
	sc := scope.New(st, nil)
	defer sc.Close()

	for range *rounds {
		err := sc.Run(ctx, *blob, func(ctx context.Context, h *scope.Held) error {
			fmt.Fprintf(out, "hold %s polls=%d wait=%v\n", h.ID(), h.Polls(), h.Waited().Round(time.Millisecond))
			time.Sleep(upTo(*hold))
			_, err := fmt.Fprintf(out, "free %s\n", h.ID())
			return err
		}, &scope.RunOptions{Create: true})
		if err != nil {
			return err
		}
		time.Sleep(upTo(*pause))
	}
	return nil
}

// upTo is a random time, at the longest d.
func upTo(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }
