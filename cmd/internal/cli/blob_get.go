package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newBlobGet() *cobra.Command {
	var c store.Conditions
	return a.oneBlob("get BLOB", "Write the content of a blob to standard output", &c,
		func(ctx context.Context, st store.Store, name string) error {
			object, err := st.Get(ctx, name, &c)
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(object.Body)
			return err
		})
}
