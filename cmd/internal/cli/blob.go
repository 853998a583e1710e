package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlob() *cobra.Command {
	return a.group("blob", "Read and write single blobs",
		a.newBlobPut(), a.newBlobGet(), a.newBlobRm(), a.newBlobLs(), a.newBlobStat())
}

// addConditions adds the flags of conditions on a blob.
func addConditions(cmd *cobra.Command, c *store.Conditions) {
	cmd.Flags().StringVar(&c.LeaseID, "lease-id", "", "only if this is the ID of the blob's lease, a `GUID`")
	cmd.Flags().StringVar(&c.IfMatch, "if-match", "", "only if the blob still has this `ETAG`")
	cmd.Flags().StringVar(&c.IfNoneMatch, "if-none-match", "", "only if the blob has another `ETAG`; '*' with put: only if there is no blob")
}

// quoteETags puts quotes around ETags that a shell has lost.
func quoteETags(c *store.Conditions) {
	for _, etag := range []*string{&c.IfMatch, &c.IfNoneMatch} {
		if *etag != "" && *etag != store.AnyETag && !strings.Contains(*etag, `"`) {
			*etag = `"` + *etag + `"`
		}
	}
}

// oneBlob makes the command of a request on one blob.
func (a *app) oneBlob(use, short string, c *store.Conditions, f func(ctx context.Context, st store.Store, name string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: blobArgs(1)}
	addConditions(cmd, c)
	cmd.RunE = a.inStore(func(ctx context.Context, st store.Store, args []string) error {
		quoteETags(c)
		return f(ctx, st, args[0])
	})
	return cmd
}

// blobArgs takes BLOB and, up to limit, further arguments. An empty name, such as
// from a variable that is not set, would stand for the container.
func blobArgs(limit int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && args[0] == "" {
			return usagef("BLOB is empty")
		}
		return cobra.RangeArgs(1, limit)(cmd, args)
	}
}
