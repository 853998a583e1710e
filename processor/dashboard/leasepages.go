package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// leaseRow is a blob, or the container itself, with a lease in whatever state.
type leaseRow struct {
	Blob   string // "" for the container
	State  store.LeaseState
	Kind   string // fixed or infinite
	Left   string
	Holder *store.Holder // nil where the store does not tell
	Dead   bool          // the holder has ended for certain
}

// Shown is the name in the list.
func (l leaseRow) Shown() string {
	if l.Blob == "" {
		return "(container)"
	}
	return l.Blob
}

// Locked reports whether there is something to break.
func (l leaseRow) Locked() bool {
	return l.State == store.LeaseLeased || l.State == store.LeaseBreaking
}

// leasesView is the page of all leases.
type leasesView struct {
	Leases []leaseRow
	More   int // that are not shown
}

// shownLeases is how many leases the page lists.
const shownLeases = 500

func (d *Dashboard) leasesPage(r *http.Request) (*view, error) {
	leases, version, err := d.leases(r.Context())
	if err != nil {
		return nil, err
	}
	body := leasesView{Leases: leases[:min(len(leases), shownLeases)]}
	body.More = len(leases) - len(body.Leases)
	return &view{template: "leases", Title: "Leases", Section: "leases", Live: "leases", Version: version, Body: body}, nil
}

// leases are all that are or were in force, with a version of them.
func (d *Dashboard) leases(ctx context.Context) ([]leaseRow, string, error) {
	sc := d.p.Scope()
	own, err := sc.Store().Stat(ctx, "", nil)
	if err != nil {
		return nil, "", err
	}
	sum := fnv.New64a()
	var rows []leaseRow
	add := func(blob string, l store.LeaseInfo) {
		if l.State == store.LeaseAvailable {
			return
		}
		rows = append(rows, newLeaseRow(blob, l, sc))
		fmt.Fprintf(sum, "%q %s %d\n", blob, l.State, l.Expires.Unix())
	}
	add("", own.Lease)
	for info, err := range sc.Store().List(ctx, "") {
		if err != nil {
			return nil, "", err
		}
		add(info.Name, info.Lease)
	}
	return rows, fmt.Sprintf("%x", sum.Sum64()), nil
}

func newLeaseRow(blob string, l store.LeaseInfo, sc *scope.Scope) leaseRow {
	row := leaseRow{Blob: blob, State: l.State, Left: leaseLeft(l, sc.Now()), Holder: l.Holder, Dead: sc.IsDead(l.Holder)}
	switch {
	case l.State == store.LeaseLeased && l.Infinite:
		row.Kind = "infinite"
	case l.State == store.LeaseLeased:
		row.Kind = "fixed"
	}
	return row
}

func (d *Dashboard) lookAtLeases(ctx context.Context) (update, error) {
	_, version, err := d.leases(ctx)
	return update{version: version}, err
}

// breakView is the page that asks whether a lease is really to be broken.
type breakView struct{ leaseRow }

func (d *Dashboard) breakPage(r *http.Request) (*view, error) {
	blob := r.URL.Query().Get("blob")
	info, err := d.p.Scope().Store().Stat(r.Context(), blob, nil)
	if err != nil {
		return nil, err
	}
	body := breakView{newLeaseRow(blob, info.Lease, d.p.Scope())}
	return &view{template: "break", Title: "Break a lease", Section: "leases", Body: body}, nil
}

// HolderJSON is who has the lease, as the form says it; "" where the store does not
// tell.
func (v breakView) HolderJSON() (string, error) {
	if v.Holder == nil {
		return "", nil
	}
	text, err := json.Marshal(v.Holder)
	return string(text), err
}

// breakLease ends a lease at once.
func (d *Dashboard) breakLease(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	blob := r.PostForm.Get("blob")
	holder, err := holderOf(r.PostForm.Get("holder"))
	if err != nil {
		return "", err
	}
	// Somebody else may have got the lease since the page was shown.
	_, err = d.p.Scope().Store().Lease(r.Context(), blob, &store.LeaseRequest{Action: store.LeaseBreak, Holder: holder})
	if err != nil {
		return "", err
	}
	d.did(r.Context(), "break lease", "blob", blob)
	return "/leases?done=break", nil
}

func holderOf(text string) (*store.Holder, error) {
	if text == "" {
		return nil, nil
	}
	var h store.Holder
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return nil, fmt.Errorf("%w: holder: %w", errInput, err)
	}
	return &h, nil
}
