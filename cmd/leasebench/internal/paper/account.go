package paper

import (
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// Account is one container of a simulated account. Its methods may be called
// concurrently.
type Account struct {
	azure Azure
	blobs *memstore.Store

	mu     sync.Mutex // guards the fields below
	bill   Bill
	all    bucket
	byBlob map[string]*bucket
}

// NewAccount makes an account whose container is still to be created.
func NewAccount(a Azure) *Account {
	return &Account{azure: a, blobs: memstore.New(nil), all: newBucket(a.AccountRate), byBlob: map[string]*bucket{}}
}

// Connect gives a worker access, with a bandwidth of its own.
func (a *Account) Connect() *Store { return &Store{account: a} }

// Bill is what was asked for until now.
func (a *Account) Bill() Bill {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bill
}

// admit counts a request in its class, or refuses one that is over a limit. Requests
// to the container itself have no limit of their own.
func (a *Account) admit(op, name string, class func(*Bill) *int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	*class(&a.bill)++
	if a.all.take() && (name == "" || a.ofBlob(name).take()) {
		return nil
	}
	a.bill.Throttled++
	return &store.Error{Op: op, Name: name, Code: "ServerBusy", Sentinel: store.ErrThrottled}
}

func (a *Account) ofBlob(name string) *bucket {
	b := a.byBlob[name]
	if b == nil {
		b = new(newBucket(a.azure.BlobRate))
		a.byBlob[name] = b
	}
	return b
}

// bucket holds tokens for as many requests as may come in one second, and gets them
// back evenly.
type bucket struct {
	rate, tokens float64
	at           time.Time // of tokens
}

func newBucket(rate float64) bucket { return bucket{rate: rate, tokens: rate, at: time.Now()} }

func (b *bucket) take() bool {
	now := time.Now()
	b.tokens = min(b.rate, b.tokens+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
