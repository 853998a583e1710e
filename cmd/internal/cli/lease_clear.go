package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// workerPrefix begins the names of the blobs whose leases workers hold as long as
// they live.
const workerPrefix = "workers/"

// clearing ends all leases at once.
type clearing struct{ wanted, account, dryRun, force bool }

func (c *clearing) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.wanted, "all", false, "all leases of the container and of its blobs")
	addAccount(cmd, &c.account)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only print how many leases --all would end, and where")
	cmd.Flags().BoolVar(&c.force, "force", false, "even if workers live")
}

func (c *clearing) hasOptions() bool { return c.account || c.dryRun || c.force }

func (c *clearing) run(ctx context.Context, a *app) error {
	return a.withLeases(ctx, c.account, "", func(leases iter.Seq2[leased, error]) error {
		var locked []leased
		for l, err := range leases {
			if err != nil {
				return err
			}
			if l.Lease.State.Locked() {
				locked = append(locked, l)
			}
		}
		var refused error
		if !c.force {
			refused = a.checkQuiet(ctx, locked)
		}
		switch {
		case c.dryRun:
			return c.show(a, locked, refused)
		case refused != nil:
			return refused
		}
		return a.breakAll(ctx, locked)
	})
}

func (a *app) breakAll(ctx context.Context, locked []leased) error {
	broken := 0
	for _, l := range locked {
		_, err := l.in.st.Lease(ctx, l.blob(), &store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: 0})
		switch {
		case err == nil:
			broken++
		case errors.Is(err, store.ErrLeaseNotPresent), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrContainerNotFound):
			// It ended by itself meanwhile.
		default:
			return fmt.Errorf("after %d of %d leases: %w", broken, len(locked), err)
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%s broken\n", plural(broken, "lease"))
	return err
}

// show says what would be done, and why it would not be as things are.
func (c *clearing) show(a *app, locked []leased, refused error) error {
	if refused != nil {
		a.complain(fmt.Errorf("it would be refused: %w", refused))
	}
	fmt.Fprintf(a.stdout, "%s would be broken\n", plural(len(locked), "lease"))
	for _, l := range locked {
		name := l.shown()
		if c.account && l.in.name != "" {
			name = l.in.name + "/" + name
		}
		if _, err := fmt.Fprintln(a.stdout, name); err != nil {
			return err
		}
	}
	return nil
}

// checkQuiet refuses to take the leases of workers that may take work.
func (a *app) checkQuiet(ctx context.Context, locked []leased) error {
	workers := map[*container][]string{}
	for _, l := range locked {
		if worker, ok := strings.CutPrefix(l.blob(), workerPrefix); ok {
			workers[l.in] = append(workers[l.in], worker)
		}
	}
	var restless []error
	for _, in := range slices.SortedFunc(maps.Keys(workers), byName) {
		paused, err := a.allPaused(ctx, in.st)
		if err != nil {
			return err
		}
		if !paused {
			restless = append(restless, stillLive(in, workers[in]))
		}
	}
	return errors.Join(restless...)
}

func byName(a, b *container) int { return strings.Compare(a.name, b.name) }

func (a *app) allPaused(ctx context.Context, st store.Store) (bool, error) {
	paused := false
	err := a.process(st, nil, a.stderr, func(p *processor.Processor) (err error) {
		paused, err = p.AllPaused(ctx)
		return err
	})
	return paused, err
}

func stillLive(in *container, workers []string) error {
	where := ""
	if in.name != "" {
		where = fmt.Sprintf(" in container %q", in.name)
	}
	verb := "live"
	if len(workers) == 1 {
		verb = "lives"
	}
	return fmt.Errorf("%s %s%s: %s; let them take no work first (leasestream pause --all), end them, or give --force",
		plural(len(workers), "worker"), verb, where, printable(strings.Join(workers, ", ")))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
