package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlobLs() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List the blobs whose name begins with PREFIX",
		Args:  cobra.MaximumNArgs(1),
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.RunE = a.inStore(func(ctx context.Context, st store.Store, args []string) error {
		return a.listBlobs(ctx, st, args, format, blobList{
			take:   func(*store.Info) bool { return true },
			json:   blobJSON,
			header: "BLOB\tBYTES\tMODIFIED\tLEASE",
			row:    blobRow,
		})
	})
	return cmd
}

func blobRow(w io.Writer, info *store.Info) {
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", printable(info.Name), info.Size, shownTime(info.LastModified), info.Lease.State)
}

func blobJSON(info *store.Info) object {
	metadata := info.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	return object{
		{"name", info.Name},
		{"etag", info.ETag},
		{"size", info.Size},
		{"contentType", info.ContentType},
		{"created", shownTime(info.Created)},
		{"modified", shownTime(info.LastModified)},
		{"metadata", metadata},
		{"lease", leaseJSON(info.Lease)},
	}
}
