package cli

import (
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseRenew() *cobra.Command {
	r := &store.LeaseRequest{Action: store.LeaseRenew}
	cmd := a.leaseOperation("renew", "Start the duration of a lease anew", r, nil)
	requiredID(cmd, &r.ID, "id", "the lease ID, a `GUID`")
	return cmd
}
