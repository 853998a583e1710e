package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

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
		list := a.listBlobs
		if format.value == "json" {
			list = a.listBlobsJSON
		}
		return list(st.List(ctx, strings.Join(args, "")))
	})
	return cmd
}

func (a *app) listBlobs(blobs iter.Seq2[*store.Info, error]) error {
	w := table(a.stdout)
	fmt.Fprintln(w, "BLOB\tBYTES\tMODIFIED\tLEASE")
	for info, err := range blobs {
		if err != nil {
			return err
		}
		blobRow(w, info)
	}
	return w.Flush()
}

func (a *app) listBlobsJSON(blobs iter.Seq2[*store.Info, error]) error {
	array := newJSONArray(a.stdout)
	for info, err := range blobs {
		if err != nil {
			return err
		}
		if err := array.add(blobJSON(info)); err != nil {
			return err
		}
	}
	return array.end("")
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
