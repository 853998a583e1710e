package cli

import (
	"context"
	"errors"
	"iter"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/scope/store"
)

// containerOwn is what a listing calls the lease of a container itself.
const containerOwn = "(container)"

// container is one whose leases are looked at.
type container struct {
	name string // in its account; "" if only one is looked at
	st   store.Store
	own  *store.Info
}

// leased is a blob, or the container itself, with a lease in whatever state.
type leased struct {
	in *container
	*store.Info
}

// isOwn tells the lease of a container from those of its blobs.
func (l leased) isOwn() bool { return l.Info == l.in.own }

// blob is the name for a request.
func (l leased) blob() string {
	if l.isOwn() {
		return ""
	}
	return l.Name
}

// shown is the name in a listing.
func (l leased) shown() string {
	if l.isOwn() {
		return containerOwn
	}
	return printable(l.Name)
}

// withLeases calls f with all leases of the container of the store or, if the
// account is meant, of all containers in it. A prefix restricts them to blobs.
func (a *app) withLeases(ctx context.Context, account bool, prefix string, f func(iter.Seq2[leased, error]) error) error {
	all := func(containers iter.Seq2[*container, error]) error { return f(leasesIn(ctx, containers, prefix)) }
	if !account {
		return a.withStore(ctx, false, func(st store.Store) error { return all(only(ctx, st)) })
	}
	acc, err := wire.OpenAccount(a.storeURL)
	if err != nil {
		return missingFile(err)
	}
	return errors.Join(all(allOf(ctx, acc)), acc.Close())
}

// only yields the one container of a store.
func only(ctx context.Context, st store.Store) iter.Seq2[*container, error] {
	return func(yield func(*container, error) bool) {
		own, err := st.Stat(ctx, "", nil)
		yield(&container{st: st, own: own}, err)
	}
}

// allOf yields the containers of an account.
func allOf(ctx context.Context, acc wire.Account) iter.Seq2[*container, error] {
	return func(yield func(*container, error) bool) {
		for own, err := range acc.Containers(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&container{name: own.Name, st: acc.Container(own.Name), own: own}, nil) {
				return
			}
		}
	}
}

func leasesIn(ctx context.Context, containers iter.Seq2[*container, error], prefix string) iter.Seq2[leased, error] {
	return func(yield func(leased, error) bool) {
		for c, err := range containers {
			if err != nil {
				yield(leased{}, err)
				return
			}
			for l, err := range c.leases(ctx, prefix) {
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// leases yields what has a lease: the container, unless there is a prefix, and
// the blobs.
func (c *container) leases(ctx context.Context, prefix string) iter.Seq2[leased, error] {
	return func(yield func(leased, error) bool) {
		if prefix == "" && c.own.Lease.State != store.LeaseAvailable && !yield(leased{c, c.own}, nil) {
			return
		}
		for info, err := range c.st.List(ctx, prefix) {
			if err != nil {
				yield(leased{}, err)
				return
			}
			if info.Lease.State != store.LeaseAvailable && !yield(leased{c, info}, nil) {
				return
			}
		}
	}
}
