package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlobRm() *cobra.Command {
	var c store.Conditions
	return a.oneBlob("rm BLOB", "Delete a blob", &c,
		func(ctx context.Context, st store.Store, name string) error {
			return st.Delete(ctx, name, &c)
		})
}
