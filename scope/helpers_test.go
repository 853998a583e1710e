package scope_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

const blob = "streams/order.xml"

var errReset = errors.New("connection reset")

// world is a store with one empty stream in it, whose calls a test can make fail.
type world struct {
	t  *testing.T
	st *storetest.Faults // counts and fails
	in *memstore.Store   // beneath: for the test to look and to meddle

	mu    sync.Mutex // guards the fields below
	hook  storetest.Hook
	lease string // ID that was last acquired
}

// inBubble runs a test in a bubble of fake time, on a world of its own.
func inBubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(nil)
		f(t, w)
	})
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, in: memstore.New(nil)}
	w.st = storetest.NewFaults(w.in, w.decide)
	if err := w.in.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) decide(c storetest.Call) (bool, error) {
	w.mu.Lock()
	hook := w.hook
	if c.Op == "acquire" {
		w.lease = c.LeaseID
	}
	w.mu.Unlock()
	if hook == nil {
		return true, nil
	}
	return hook(c)
}

// onCall makes hook decide from now on; nil: nothing fails.
func (w *world) onCall(hook storetest.Hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// failNext makes the next n calls of an operation fail, applied or not.
func (w *world) failNext(op string, n int, apply bool, err error) {
	var failed atomic.Int64
	w.onCall(func(c storetest.Call) (bool, error) {
		if c.Op == op && failed.Add(1) <= int64(n) {
			return apply, err
		}
		return true, nil
	})
}

// once makes f decide about the next call of an operation, and about no other.
func (w *world) once(op string, f func() (apply bool, err error)) {
	var done atomic.Bool
	w.onCall(func(c storetest.Call) (bool, error) {
		if c.Op != op || done.Swap(true) {
			return true, nil
		}
		return f()
	})
}

// put writes the blob past all leases and faults.
func (w *world) put(body []byte) *store.Info {
	w.t.Helper()
	return w.putMeta(body, nil)
}

func (w *world) putMeta(body []byte, meta map[string]string) *store.Info {
	w.t.Helper()
	info, err := w.in.Put(context.Background(), blob, body, &store.PutOptions{Metadata: meta})
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

// putUnder writes the blob under a lease, past all faults.
func (w *world) putUnder(lease, body string) {
	w.t.Helper()
	o := &store.PutOptions{Conditions: store.Conditions{LeaseID: lease}}
	if _, err := w.in.Put(context.Background(), blob, []byte(body), o); err != nil {
		w.t.Error(err)
	}
}

func (w *world) get() *store.Object {
	w.t.Helper()
	object, err := w.in.Get(context.Background(), blob, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return object
}

func (w *world) leaseState() store.LeaseState {
	w.t.Helper()
	return w.get().Lease.State
}

func (w *world) breakLease() {
	w.t.Helper()
	if _, err := w.in.Lease(context.Background(), blob, &store.LeaseRequest{Action: store.LeaseBreak}); err != nil {
		w.t.Fatal(err)
	}
}

// writePast writes under the lease that is in force, as someone does who has got
// hold of its ID.
func (w *world) writePast(body []byte, meta map[string]string) {
	w.t.Helper()
	w.mu.Lock()
	id := w.lease
	w.mu.Unlock()
	_, err := w.in.Put(context.Background(), blob, body, &store.PutOptions{
		Conditions: store.Conditions{LeaseID: id}, Metadata: meta,
	})
	if err != nil {
		w.t.Error(err)
	}
}

// count returns how many calls of an operation there were so far.
func (w *world) count(op string) int { return w.st.Counts()[op] }

// names are those of the events in the blob, in the order of the document.
func (w *world) names() []string {
	w.t.Helper()
	s, err := eventstream.Parse(w.get().Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return namesOf(s)
}

func namesOf(s *eventstream.Stream) []string {
	names := []string{}
	for e := range s.Events() {
		names = append(names, e.Name())
	}
	return names
}

func (w *world) wantNames(want ...string) {
	w.t.Helper()
	if got := w.names(); !slices.Equal(got, want) {
		w.t.Errorf("events in the blob = %q, want %q", got, want)
	}
}

// newScope makes a scope over the world's store, closed at the end of the test.
func (w *world) newScope(o *scope.Options) *scope.Scope { return newScope(w.t, w.st, o) }

func newScope(t *testing.T, st store.Store, o *scope.Options) *scope.Scope {
	s := scope.New(st, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

// edit edits the blob and fails the test if that fails.
func edit(t *testing.T, s *scope.Scope, f func(*eventstream.Stream) error) *scope.Result {
	t.Helper()
	r, err := s.Edit(t.Context(), blob, f)
	if err != nil {
		t.Fatalf("Edit() = %v", err)
	}
	return r
}

// add appends an event to the root thread.
func add(name string) func(*eventstream.Stream) error {
	return func(s *eventstream.Stream) error {
		var err error
		if s.Root() == nil {
			_, err = s.AppendRoot(eventstream.NewEvent{Name: name})
		} else {
			_, err = s.Next(s.Last(), eventstream.NewEvent{Name: name})
		}
		return err
	}
}

func nothing(*eventstream.Stream) error { return nil }

// remote hides that a store is local.
type remote struct{ store.Store }

// hang waits for a context to end, as a request does that is never answered.
func hang(d time.Duration) error {
	time.Sleep(d)
	return io.ErrUnexpectedEOF
}

func wantErr(t *testing.T, what string, err error, want ...error) {
	t.Helper()
	for _, target := range want {
		if !errors.Is(err, target) {
			t.Errorf("%s = %v, want %v", what, err, target)
		}
	}
}

// aheadStore is a remote store whose clock is ahead of ours.
type aheadStore struct {
	store.Store
	by time.Duration
}

func (a aheadStore) date() store.Date { return store.Date{Time: time.Now().Add(a.by)} }

func (a aheadStore) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	object, err := a.Store.Get(ctx, name, c)
	if err == nil {
		object.Date = a.date()
	}
	return object, err
}

func (a aheadStore) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	info, err := a.Store.Put(ctx, name, body, o)
	if err == nil {
		info.Date = a.date()
	}
	return info, err
}

func (a aheadStore) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	info, err := a.Store.Stat(ctx, name, c)
	if err == nil {
		info.Date = a.date()
	}
	return info, err
}

func (a aheadStore) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for info, err := range a.Store.List(ctx, prefix) {
			if err == nil {
				info.Date = a.date()
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func (a aheadStore) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	result, err := a.Store.Lease(ctx, name, r)
	if err == nil {
		result.Date = a.date()
	}
	return result, err
}
