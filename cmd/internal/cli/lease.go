package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLease() *cobra.Command {
	group := a.group("lease", "Acquire, keep and end leases on blobs and on the container",
		a.newLeaseAcquire(), a.newLeaseRenew(), a.newLeaseChange(), a.newLeaseRelease(),
		a.newLeaseBreak(), a.newLeaseShow(), a.newLeaseLs())
	group.Long = `Acquire, keep and end leases on blobs and on the container.

A lease that was acquired here belongs to whoever knows its ID, not to a process:
nobody renews it, and a lease with a duration runs out by itself. A lease of the
container only guards it from being deleted.`
	return group
}

// onLease makes the command of something done to the lease of BLOB or, with
// --container, of the container, whose name is empty.
func (a *app) onLease(use, short string, f func(ctx context.Context, st store.Store, name string) error) *cobra.Command {
	var container bool
	cmd := &cobra.Command{Use: use + " {BLOB | --container}", Short: short, Args: cobra.MaximumNArgs(1)}
	cmd.Flags().BoolVar(&container, "container", false, "the container's own lease")
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		name, err := leaseTarget(container, args)
		if err != nil {
			return err
		}
		return a.withStore(ctx, false, func(st store.Store) error { return f(ctx, st, name) })
	})
	return cmd
}

func leaseTarget(container bool, args []string) (string, error) {
	switch {
	case container && len(args) > 0:
		return "", usagef("give BLOB or --container, not both")
	case container:
		return "", nil
	case len(args) == 0 || args[0] == "":
		return "", usagef("give BLOB, or --container")
	}
	return args[0], nil
}

// leaseOperation makes the command of one request. show writes the result; nil
// writes nothing.
func (a *app) leaseOperation(use, short string, r *store.LeaseRequest, show func(*store.LeaseResult) error) *cobra.Command {
	return a.onLease(use, short, func(ctx context.Context, st store.Store, name string) error {
		result, err := st.Lease(ctx, name, r)
		if err != nil || show == nil {
			return err
		}
		return show(result)
	})
}

func (a *app) showLeaseID(r *store.LeaseResult) error {
	_, err := fmt.Fprintln(a.stdout, r.ID)
	return err
}

// requiredID adds a flag for a lease ID that must be given.
func requiredID(cmd *cobra.Command, id *string, name, usage string) {
	cmd.Flags().StringVar(id, name, "", usage)
	require(cmd, name)
}
