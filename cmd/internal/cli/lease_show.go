package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

func (a *app) newLeaseShow() *cobra.Command {
	var format choice
	cmd := a.onLease("show", "Show the state of a lease",
		func(ctx context.Context, st store.Store, name string) error {
			info, err := st.Stat(ctx, name, nil)
			if err != nil {
				return err
			}
			if format.value == "json" {
				return writeJSON(a.stdout, append(leaseJSON(info.Lease), member{"etag", info.ETag}))
			}
			return a.showLease(info)
		})
	formatFlag(cmd, &format, "text", "json")
	return cmd
}

func (a *app) showLease(info *store.Info) error {
	w := table(a.stdout)
	l := info.Lease
	fmt.Fprintf(w, "state\t%s\nstatus\t%s\nduration\t%s\netag\t%s\n",
		l.State, l.State.Status(), dash(leaseDuration(l)), info.ETag)
	if !l.Expires.IsZero() {
		fmt.Fprintf(w, "expires\t%s\n", shownTime(l.Expires))
	}
	if l.Holder != nil {
		fmt.Fprintf(w, "holder\t%s\n", shownHolder(l.Holder))
	}
	return w.Flush()
}

// leaseJSON is what can be seen of a lease: state, status and duration, and where
// the store tells, when it ends and who holds it.
func leaseJSON(l store.LeaseInfo) object {
	o := object{
		{"state", l.State},
		{"status", l.State.Status()},
		{"duration", leaseDuration(l)},
	}
	if !l.Expires.IsZero() {
		o = append(o, member{"expires", shownTime(l.Expires)})
	}
	if l.Holder != nil {
		o = append(o, member{"holder", l.Holder})
	}
	return o
}

// leaseDuration is fixed or infinite, as Azure has it; "" if the blob is not
// leased.
func leaseDuration(l store.LeaseInfo) string {
	switch {
	case l.State != store.LeaseLeased:
		return ""
	case l.Infinite:
		return "infinite"
	}
	return "fixed"
}

func shownHolder(h *store.Holder) string {
	if h == nil {
		return ""
	}
	return printable(fmt.Sprintf("process %d on %s", h.PID, h.Host))
}
