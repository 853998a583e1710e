package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) newLeaseLs() *cobra.Command {
	var (
		format  choice
		account bool
	)
	cmd := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List all leases, in whatever state",
		Long: `List the leases of the container and of its blobs, in whatever state, or only those
of the blobs whose name begins with PREFIX. With --account, those of all containers
of the Azure account are listed; a local store is only one.`,
		Args: cobra.MaximumNArgs(1),
	}
	formatFlag(cmd, &format, "text", "json")
	addAccount(cmd, &account)
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		list := a.listLeases
		if format.value == "json" {
			list = a.listLeasesJSON
		}
		return a.withLeases(ctx, account, strings.Join(args, ""), func(leases iter.Seq2[leased, error]) error {
			return list(leases, account)
		})
	})
	return cmd
}

func addAccount(cmd *cobra.Command, account *bool) {
	cmd.Flags().BoolVar(account, "account", false, "all containers of the Azure account")
}

func (a *app) listLeases(leases iter.Seq2[leased, error], account bool) error {
	w := table(a.stdout)
	if account {
		fmt.Fprint(w, "CONTAINER\t")
	}
	fmt.Fprintln(w, "BLOB\tSTATE\tDURATION\tEXPIRES\tHOLDER")
	for l, err := range leases {
		if err != nil {
			return err
		}
		if account {
			fmt.Fprintf(w, "%s\t", dash(l.in.name))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.shown(), l.Lease.State,
			dash(leaseDuration(l.Lease)), dash(shownTime(l.Lease.Expires)), dash(shownHolder(l.Lease.Holder)))
	}
	return w.Flush()
}

func (a *app) listLeasesJSON(leases iter.Seq2[leased, error], account bool) error {
	array := newJSONArray(a.stdout)
	for l, err := range leases {
		if err != nil {
			return err
		}
		if err := array.add(leaseRowJSON(l, account)); err != nil {
			return err
		}
	}
	return array.end("")
}

// leaseRowJSON has an empty name for a container's own lease.
func leaseRowJSON(l leased, account bool) object {
	var o object
	if account {
		o = object{{"container", l.in.name}}
	}
	o = append(o, member{"name", l.blob()})
	return append(append(o, leaseJSON(l.Lease)...), member{"etag", l.ETag})
}
