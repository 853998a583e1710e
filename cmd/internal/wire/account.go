package wire

import (
	"context"
	"fmt"
	"iter"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

// Account is all the containers that lie beside each other: those of a storage
// account, or the one of a local store.
type Account interface {
	// Containers yields the containers with the state of their own leases. It
	// stops after the first error.
	Containers(ctx context.Context) iter.Seq2[*store.Info, error]
	// Container returns one of them. It is closed with the account.
	Container(name string) store.Store
	Close() error
}

// OpenAccount opens all that lies beside the container with this URL. A missing
// file is an error that matches fs.ErrNotExist. No error shows a secret of the URL.
func OpenAccount(storeURL string) (Account, error) {
	if !isAzure(storeURL) {
		s, err := openStore(storeURL, &StoreOptions{})
		if err != nil {
			return nil, err
		}
		return lone{s}, nil
	}
	a, err := azurestore.OpenAccount(storeURL, nil)
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", Redact(storeURL), err)
	}
	return azureAccount{a}, nil
}

type azureAccount struct{ *azurestore.Account }

func (a azureAccount) Container(name string) store.Store { return a.Account.Container(name) }

// lone is a local store, which has no others beside it.
type lone struct{ store.Store }

func (l lone) Containers(ctx context.Context) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) { yield(l.Stat(ctx, "", nil)) }
}

func (l lone) Container(string) store.Store { return l.Store }
