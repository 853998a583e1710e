package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseBreak() *cobra.Command {
	period := breakPeriod()
	r := &store.LeaseRequest{Action: store.LeaseBreak}
	cmd := a.leaseOperation("break", "End a lease without its ID and print how many seconds it still locks", r, a.showRemaining)
	cmd.Flags().Var(&period, "period", "let it lock for this `DURATION` yet, 0s to 60s, if that is shorter than what is left (default what is left; an infinite lease ends at once)")
	cmd.PreRun = func(*cobra.Command, []string) { r.BreakPeriod = period.value }
	return cmd
}

// showRemaining writes whole seconds, rounded up: when they have passed, the
// lease can be acquired.
func (a *app) showRemaining(r *store.LeaseResult) error {
	_, err := fmt.Fprintln(a.stdout, int64((r.Remaining+time.Second-1)/time.Second))
	return err
}
