package storetest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"sync"

	"github.com/leasestream/leasestream/scope/store"
)

// Call is one call of a store: what a [Hook] decides upon.
type Call struct {
	N          int    // its number, from 1, over all operations
	Op         string // "get", "put", "stat", "delete", "list", "create" or the lease action
	Name       string // of the blob; the prefix of a list; "" for the container
	Conditions store.Conditions
	LeaseID    string // that the request proves its right with, lease operations included
}

// Hook decides what becomes of a call. With a nil error the call is carried out
// and answered. With an error that error is the answer: after the call has been
// carried out if apply is true (an answer that was lost), without it otherwise
// (a request that never arrived). It runs before the call, on the caller's
// goroutine and outside all locks, so it may wait and may use the store beneath.
type Hook func(Call) (apply bool, err error)

// Faults is a store over another one whose calls fail when its hook says so. It
// counts the calls too, those included that never arrived. An error of the hook
// that is no *store.Error is wrapped in one, as of unknown outcome.
type Faults struct {
	under store.Store
	hook  Hook

	mu     sync.Mutex // guards the fields below
	calls  int
	counts map[string]int
}

var (
	_ store.Store     = (*Faults)(nil)
	_ store.Versioner = (*Faults)(nil)
	_ store.Piecewise = (*Faults)(nil)
)

// NewFaults puts faults over s. A nil hook makes a mere counter.
func NewFaults(s store.Store, hook Hook) *Faults {
	if hook == nil {
		hook = func(Call) (bool, error) { return true, nil }
	}
	return &Faults{under: s, hook: hook, counts: map[string]int{}}
}

// Counts returns how many calls there were of each operation.
func (f *Faults) Counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// Total returns how many calls there were.
func (f *Faults) Total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Local passes on what the store beneath says.
func (f *Faults) Local() bool { return store.IsLocal(f.under) }

// Version passes on that of the store beneath, or errors.ErrUnsupported if it has
// none. It is not counted and does not fail by itself: how often somebody looks
// depends on the time.
func (f *Faults) Version(ctx context.Context) (uint64, error) {
	if v, ok := f.under.(store.Versioner); ok {
		return v.Version(ctx)
	}
	return 0, errors.ErrUnsupported
}

// Close closes the store beneath. It is not counted and does not fail by itself.
func (f *Faults) Close() error { return f.under.Close() }

// Create implements [store.Store].
func (f *Faults) Create(ctx context.Context) error {
	_, err := through(f, Call{Op: "create"}, func() (struct{}, error) {
		return struct{}{}, f.under.Create(ctx)
	})
	return err
}

// Get implements [store.Store].
func (f *Faults) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	return through(f, conditional("get", name, c), func() (*store.Object, error) {
		return f.under.Get(ctx, name, c)
	})
}

// Put implements [store.Store].
func (f *Faults) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	return through(f, conditional("put", name, conditionsOf(o)), func() (*store.Info, error) {
		return f.under.Put(ctx, name, body, o)
	})
}

// answerInPieces is the answer of a call about a body in pieces.
type answerInPieces struct {
	info *store.Info
	body *store.Body
}

// GetPieces implements [store.Piecewise], on any store. It is a "get".
func (f *Faults) GetPieces(ctx context.Context, name string, had *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	a, err := through(f, conditional("get", name, c), func() (a answerInPieces, err error) {
		a.info, a.body, err = store.GetPieces(ctx, f.under, name, had, c)
		return a, err
	})
	return a.info, a.body, err
}

// PutPieces implements [store.Piecewise], on any store. It is a "put".
func (f *Faults) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	a, err := through(f, conditional("put", name, conditionsOf(o)), func() (a answerInPieces, err error) {
		a.info, a.body, err = store.PutPieces(ctx, f.under, name, pieces, had, o)
		return a, err
	})
	return a.info, a.body, err
}

func conditionsOf(o *store.PutOptions) *store.Conditions {
	if o == nil {
		return nil
	}
	return &o.Conditions
}

// Stat implements [store.Store].
func (f *Faults) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	return through(f, conditional("stat", name, c), func() (*store.Info, error) {
		return f.under.Stat(ctx, name, c)
	})
}

// Delete implements [store.Store].
func (f *Faults) Delete(ctx context.Context, name string, c *store.Conditions) error {
	_, err := through(f, conditional("delete", name, c), func() (struct{}, error) {
		return struct{}{}, f.under.Delete(ctx, name, c)
	})
	return err
}

// Lease implements [store.Store].
func (f *Faults) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	call := Call{Op: string(r.Action), Name: name, Conditions: r.Conditions, LeaseID: r.ID}
	return through(f, call, func() (*store.LeaseResult, error) {
		return f.under.Lease(ctx, name, r)
	})
}

// List implements [store.Store]. Each loop over it is one call.
func (f *Faults) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		if _, err := f.arrive(Call{Op: "list", Name: prefix}); err != nil {
			yield(nil, err)
			return
		}
		f.under.List(ctx, prefix)(yield)
	}
}

func conditional(op, name string, c *store.Conditions) Call {
	call := Call{Op: op, Name: name}
	if c != nil {
		call.Conditions, call.LeaseID = *c, c.LeaseID
	}
	return call
}

// through carries a call out as the hook says.
func through[T any](f *Faults, c Call, carryOut func() (T, error)) (T, error) {
	apply, err := f.arrive(c)
	if err == nil {
		return carryOut()
	}
	if apply {
		carryOut()
	}
	var none T
	return none, err
}

// arrive counts a call and asks the hook.
func (f *Faults) arrive(c Call) (apply bool, err error) {
	f.mu.Lock()
	f.calls++
	f.counts[c.Op]++
	c.N = f.calls
	f.mu.Unlock()
	apply, err = f.hook(c)
	if _, ok := errors.AsType[*store.Error](err); err != nil && !ok {
		err = &store.Error{Op: c.Op, Name: c.Name, Err: err}
	}
	return apply, err
}
