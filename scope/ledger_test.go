package scope_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// ledger is a store in memory that notes what was put, and under which lease, in
// the order in which it took effect.
type ledger struct {
	*memstore.Store

	mu   sync.Mutex // held over a Put as well, for the order; the store beneath never blocks
	puts []noted
}

type noted struct{ lease, body string }

func (l *ledger) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.Store.Put(ctx, name, body, o)
	if err == nil {
		l.puts = append(l.puts, noted{o.LeaseID, string(body)})
	}
	return info, err
}

func (l *ledger) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, body, err := l.Store.PutPieces(ctx, name, pieces, had, o)
	if err == nil {
		l.puts = append(l.puts, noted{o.LeaseID, string(body.Bytes())})
	}
	return info, body, err
}

// noteds are the puts so far.
func (l *ledger) noteds() []noted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.puts)
}

// wantTurns checks that nobody wrote under a lease when another one had written
// since it did so first.
func (l *ledger) wantTurns(t *testing.T) {
	t.Helper()
	over := map[string]bool{}
	last := ""
	for _, put := range l.noteds() {
		if last != "" && put.lease != last {
			over[last] = true
		}
		if last = put.lease; over[last] {
			t.Errorf("%q was written under lease %s after another had written", put.body, last)
		}
	}
}

// contest runs a test in a bubble of fake time, on a world whose puts are noted.
// What is done to l happens beneath the faults.
func contest(t *testing.T, f func(t *testing.T, w *world, l *ledger)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := &ledger{Store: w.in}
		w.st = storetest.NewFaults(l, w.decide)
		w.put(nil)
		f(t, w, l)
		l.wantTurns(t)
	})
}

// cut makes all calls fail that go through the faults, as if the network were gone.
func (w *world) cut() { w.onCall(func(storetest.Call) (bool, error) { return false, errReset }) }

// cutRenewals makes renewals alone fail.
func (w *world) cutRenewals() { w.failNext("renew", 1<<30, false, errReset) }

// nextScope is that of the next holder, who has a way to the store of his own.
func nextScope(t *testing.T, l *ledger) *scope.Scope {
	return newScope(t, l, &scope.Options{PollMax: 100 * time.Millisecond})
}

// put is what a function does under a lease.
func put(body string) func(context.Context, *scope.Held) error {
	return func(ctx context.Context, h *scope.Held) error { return h.Put(ctx, []byte(body), nil) }
}

// overwrite waits for the lease and writes.
func overwrite(t *testing.T, s *scope.Scope, body string) {
	t.Helper()
	if err := s.Run(t.Context(), blob, put(body), nil); err != nil {
		t.Errorf("Run() of the next holder = %v", err)
	}
}

func (w *world) wantBody(want string) {
	w.t.Helper()
	if got := string(w.get().Body); got != want {
		w.t.Errorf("content = %q, want %q", got, want)
	}
}

// delayed does not answer the first call of one operation; the request arrives
// beneath when the test says so.
type delayed struct {
	store.Store
	op      string
	beneath store.Store

	mu   sync.Mutex // guards the field below
	kept func() error
}

func (d *delayed) Local() bool { return true }

func (d *delayed) keeps(op string, f func() error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if op != d.op || d.kept != nil {
		return false
	}
	d.kept = f
	return true
}

// arrive carries out the call that was kept back.
func (d *delayed) arrive() error {
	d.mu.Lock()
	kept := d.kept
	d.mu.Unlock()
	if kept == nil {
		return errors.New("no " + d.op + " was sent")
	}
	return kept()
}

func (d *delayed) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	body = slices.Clone(body)
	if d.keeps("put", func() error { _, err := d.beneath.Put(context.Background(), name, body, o); return err }) {
		return nil, errReset
	}
	return d.Store.Put(ctx, name, body, o)
}

func (d *delayed) Delete(ctx context.Context, name string, c *store.Conditions) error {
	if d.keeps("delete", func() error { return d.beneath.Delete(context.Background(), name, c) }) {
		return errReset
	}
	return d.Store.Delete(ctx, name, c)
}

func (d *delayed) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	if d.keeps(string(r.Action), func() error { _, err := d.beneath.Lease(context.Background(), name, r); return err }) {
		return nil, errReset
	}
	return d.Store.Lease(ctx, name, r)
}

// lateAnswers carries the first call of an operation out at once and answers it
// late, whatever the context.
type lateAnswers struct {
	store.Store
	op    string
	delay time.Duration
	done  atomic.Bool
}

func (s *lateAnswers) Local() bool { return true }

func (s *lateAnswers) wait(op string) {
	if op == s.op && !s.done.Swap(true) {
		time.Sleep(s.delay)
	}
}

func (s *lateAnswers) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	object, err := s.Store.Get(ctx, name, c)
	s.wait("get")
	return object, err
}

func (s *lateAnswers) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	info, err := s.Store.Put(ctx, name, body, o)
	s.wait("put")
	return info, err
}

func (s *lateAnswers) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	result, err := s.Store.Lease(ctx, name, r)
	s.wait(string(r.Action))
	return result, err
}

// fastClock is a store on whose clock a minute takes 45 s.
type fastClock struct{ store.Store }

func (s fastClock) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	fast := *r
	if r.Duration > 0 {
		fast.Duration = r.Duration * 3 / 4
	}
	return s.Store.Lease(ctx, name, &fast)
}
