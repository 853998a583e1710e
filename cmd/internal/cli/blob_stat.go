package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlobStat() *cobra.Command {
	var (
		c      store.Conditions
		format choice
	)
	cmd := a.oneBlob("stat BLOB", "Show size, ETag, times, lease and metadata of a blob", &c,
		func(ctx context.Context, st store.Store, name string) error {
			info, err := st.Stat(ctx, name, &c)
			if err != nil {
				return err
			}
			if format.value == "json" {
				return writeJSON(a.stdout, blobJSON(info))
			}
			return a.showBlob(info)
		})
	formatFlag(cmd, &format, "text", "json")
	return cmd
}

func (a *app) showBlob(info *store.Info) error {
	w := table(a.stdout)
	fmt.Fprintf(w, "name\t%s\netag\t%s\nbytes\t%d\ntype\t%s\ncreated\t%s\nmodified\t%s\nlease\t%s\n",
		printable(info.Name), info.ETag, info.Size, dash(printable(info.ContentType)),
		dash(shownTime(info.Created)), dash(shownTime(info.LastModified)), info.Lease.State)
	for _, name := range slices.Sorted(maps.Keys(info.Metadata)) {
		fmt.Fprintf(w, "metadata %s\t%s\n", name, printable(info.Metadata[name]))
	}
	return w.Flush()
}
