package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseLs() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List the blobs that have a lease, in whatever state",
		Args:  cobra.MaximumNArgs(1),
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.RunE = a.inStore(func(ctx context.Context, st store.Store, args []string) error {
		leased := func(info *store.Info) bool { return info.Lease.State != store.LeaseAvailable }
		return a.listBlobs(ctx, st, args, format, blobList{
			take:   leased,
			json:   leaseRowJSON,
			header: "BLOB\tSTATE\tDURATION\tEXPIRES\tHOLDER",
			row:    leaseRow,
		})
	})
	return cmd
}

func leaseRowJSON(info *store.Info) object {
	o := object{{"name", info.Name}}
	return append(append(o, leaseJSON(info.Lease)...), member{"etag", info.ETag})
}

func leaseRow(w io.Writer, info *store.Info) {
	l := info.Lease
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable(info.Name), l.State,
		dash(leaseDuration(l)), dash(shownTime(l.Expires)), dash(shownHolder(l.Holder)))
}
