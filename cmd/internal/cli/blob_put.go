package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlobPut() *cobra.Command {
	var (
		o        store.PutOptions
		metadata pairs
		noCreate bool
	)
	cmd := &cobra.Command{
		Use:   "put BLOB [FILE]",
		Short: "Write a blob from a file or standard input and print its ETag",
		Args:  blobArgs(2),
	}
	addConditions(cmd, &o.Conditions)
	cmd.Flags().Var(&metadata, "metadata", "metadata of the blob; may be repeated")
	addNoCreate(cmd, &noCreate)
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		quoteETags(&o.Conditions)
		o.Metadata = metadata
		body, err := a.readFile(fileArgument(args[1:]), maxBlob)
		if err != nil {
			return err
		}
		return a.withStore(ctx, !noCreate, func(st store.Store) error {
			info, err := st.Put(ctx, args[0], body, &o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, info.ETag)
			return err
		})
	})
	return cmd
}

// maxBlob is the most that Azure takes in one request, in bytes.
const maxBlob = 5000 << 20

func addNoCreate(cmd *cobra.Command, noCreate *bool) {
	cmd.Flags().BoolVar(noCreate, "no-create", false, "do not create the container if it is missing")
}

// fileArgument is the file that an optional argument names; - for none.
func fileArgument(args []string) string {
	if len(args) == 0 {
		return "-"
	}
	return args[0]
}
