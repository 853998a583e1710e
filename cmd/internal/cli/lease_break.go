package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseBreak() *cobra.Command {
	var all clearing
	period := breakPeriod()
	r := &store.LeaseRequest{Action: store.LeaseBreak}
	cmd := a.leaseOperation("break", "End a lease without its ID and print how many seconds it still locks", r, a.showRemaining)
	cmd.Use = "break {BLOB | --container | --all}"
	cmd.Long = `End a lease without its ID and print how many seconds it still locks: until then
nobody can acquire it.

With --all, end all leases of the container and of its blobs at once, or, with
--account, those of all containers of the Azure account, and print how many there
were. This is for maintenance, such as a change of the account to a hierarchical
namespace, which no lease may stand in the way of. It is refused while workers
live, unless they take no work (leasestream pause --all) or --force is given.`
	cmd.Flags().Var(&period, "period", "let it lock for this `DURATION` yet, 0s to 60s, if that is shorter than what is left (default what is left; an infinite lease ends at once)")
	all.addTo(cmd)
	one := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.BreakPeriod = period.value
		if !all.wanted && !all.hasOptions() {
			return one(cmd, args)
		}
		return a.do(func(ctx context.Context, args []string) error {
			if !all.wanted || len(args) > 0 || cmd.Flags().Changed("container") || cmd.Flags().Changed("period") {
				return usagef("give --all alone, or with --account, --dry-run or --force")
			}
			return all.run(ctx, a)
		})(cmd, args)
	}
	return cmd
}

// showRemaining writes whole seconds, rounded up: when they have passed, the
// lease can be acquired.
func (a *app) showRemaining(r *store.LeaseResult) error {
	_, err := fmt.Fprintln(a.stdout, int64((r.Remaining+time.Second-1)/time.Second))
	return err
}
