package azurestore

import (
	"context"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/leasestream/leasestream/scope/store"
)

// Account is a storage account with all its containers. Make one with
// [OpenAccount]. It is safe for concurrent use.
type Account struct {
	name    string
	service *service.Client
	base    Store // what its stores have in common: all but the container
}

// OpenAccount opens the account of the container with this URL, with the
// credentials that [Open] would take. A signature in the URL must be one of the
// account, since one of a container opens no other. It sends nothing.
func OpenAccount(containerURL string, o *Options) (*Account, error) {
	a, err := parseAddress(containerURL)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &Options{}
	}
	c, err := findCredentials(a, o.Credential)
	if err != nil {
		return nil, err
	}
	transport, idle := o.transport()
	client, err := c.account(a, (*service.ClientOptions)(clientOptions(transport)))
	if err != nil {
		return nil, err
	}
	return &Account{
		name:    a.account,
		service: client,
		base:    Store{timeout: o.timeout(), hint: c.accountHint(), idle: idle},
	}, nil
}

// account makes the client of the account that a container is of.
func (c credentials) account(a address, o *service.ClientOptions) (*service.Client, error) {
	at := a.container[:strings.LastIndexByte(a.container, '/')+1]
	switch {
	case c.signature != "":
		return service.NewClientWithNoCredential(at+"?"+c.signature, o)
	case c.token != nil:
		return service.NewClient(at, signIn{c.token}, o)
	}
	shared, err := c.sharedKey(a)
	if err != nil {
		return nil, err
	}
	return service.NewClientWithSharedKeyCredential(at, shared, o)
}

func (c credentials) accountHint() string {
	if c.signature == "" {
		return c.hint
	}
	return c.hint + ", and a signature of one container opens no other: take one of the account"
}

// Container returns a container of the account. Closing either closes the idle
// connections of both.
func (a *Account) Container(name string) *Store {
	s := a.base
	s.container = a.service.NewContainerClient(name)
	return &s
}

// Containers yields the containers of the account, ordered by name, with the
// state of their own leases; those that the service keeps for itself, such as
// $logs, are left out. It stops after the first error.
func (a *Account) Containers(ctx context.Context) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		pager := a.service.NewListContainersPager(nil)
		for pager.More() {
			page, err := a.page(ctx, pager)
			if err != nil {
				yield(nil, a.base.fail("list containers of", a.name, err))
				return
			}
			for _, found := range page {
				if !yield(found, nil) {
					return
				}
			}
		}
	}
}

func (a *Account) page(ctx context.Context, p *runtime.Pager[service.ListContainersResponse]) ([]*store.Info, error) {
	var page service.ListContainersResponse
	answer, err := a.base.send(a.base.reading(ctx, store.Conditions{}, 0), func(ctx context.Context) (err error) {
		page, err = p.NextPage(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := make([]*store.Info, len(page.ContainerItems))
	for i, item := range page.ContainerItems {
		infos[i] = listedContainer(item, date(answer.Header))
	}
	return infos, nil
}

// listedContainer reads an entry of a listing.
func listedContainer(item *service.ContainerItem, d store.Date) *store.Info {
	p := or(item.Properties)
	return &store.Info{
		Name:         or(item.Name),
		ETag:         quote(string(or(p.ETag))),
		LastModified: or(p.LastModified).UTC(),
		Lease:        leaseInfo(string(or(p.LeaseState)), string(or(p.LeaseDuration))),
		Date:         d,
	}
}

// Close closes the idle connections.
func (a *Account) Close() error { return a.base.Close() }
