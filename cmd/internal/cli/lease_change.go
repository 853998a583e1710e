package cli

import (
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseChange() *cobra.Command {
	r := &store.LeaseRequest{Action: store.LeaseChange}
	cmd := a.leaseOperation("change", "Give a lease another ID and print it", r, a.showLeaseID)
	requiredID(cmd, &r.ID, "id", "the lease ID as it is, a `GUID`")
	requiredID(cmd, &r.NewID, "to", "the lease ID to be, a `GUID`")
	return cmd
}
