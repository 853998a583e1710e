package cli

import (
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseRelease() *cobra.Command {
	r := &store.LeaseRequest{Action: store.LeaseRelease}
	cmd := a.leaseOperation("release", "Give a lease back", r, nil)
	requiredID(cmd, &r.ID, "id", "the lease ID, a `GUID`")
	return cmd
}
