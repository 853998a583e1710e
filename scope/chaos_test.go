package scope_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// network carries requests to a store. Some are lost, some answers are; some take
// longer than their caller has patience, and arrive all the same.
type network struct {
	store.Store
	near     bool // it passes for one that costs no round trip
	underWay sync.WaitGroup
}

func (n *network) Local() bool { return n.near }

func carry[T any](ctx context.Context, n *network, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	n.underWay.Go(func() {
		tarry()
		var a answer
		if rand.IntN(30) == 0 {
			a.err = errReset
		} else {
			a.value, a.err = f(context.WithoutCancel(ctx))
		}
		tarry()
		if rand.IntN(30) == 0 {
			a.err = errReset
		}
		answers <- a
	})
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// tarry is no time at all, or a few milliseconds, or far too long.
func tarry() {
	switch rand.IntN(30) {
	case 0:
		time.Sleep(rand.N(40 * time.Second))
	default:
		time.Sleep(rand.N(10 * time.Millisecond))
	}
}

func (n *network) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	return carry(ctx, n, func(ctx context.Context) (*store.Object, error) { return n.Store.Get(ctx, name, c) })
}

// inPieces is an answer about a body in pieces.
type inPieces struct {
	info *store.Info
	body *store.Body
}

func (n *network) GetPieces(ctx context.Context, name string, had *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	a, err := carry(ctx, n, func(ctx context.Context) (a inPieces, err error) {
		a.info, a.body, err = store.GetPieces(ctx, n.Store, name, had, c)
		return a, err
	})
	return a.info, a.body, err
}

func (n *network) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	pieces = slices.Clone(pieces)
	a, err := carry(ctx, n, func(ctx context.Context) (a inPieces, err error) {
		a.info, a.body, err = store.PutPieces(ctx, n.Store, name, pieces, had, o)
		return a, err
	})
	return a.info, a.body, err
}

func (n *network) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	return carry(ctx, n, func(ctx context.Context) (*store.Info, error) { return n.Store.Stat(ctx, name, c) })
}

func (n *network) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	body = slices.Clone(body)
	return carry(ctx, n, func(ctx context.Context) (*store.Info, error) { return n.Store.Put(ctx, name, body, o) })
}

func (n *network) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	return carry(ctx, n, func(ctx context.Context) (*store.LeaseResult, error) { return n.Store.Lease(ctx, name, r) })
}

// chaos runs some writers, each with a network of its own, and breaks leases
// beneath them until they are done.
func chaos(t *testing.T, l *ledger, writers int, write func(writer int, st store.Store)) {
	networks := make([]network, writers)
	var wg sync.WaitGroup
	for i := range networks {
		networks[i].Store, networks[i].near = l, i%2 == 0
		wg.Go(func() { write(i, &networks[i]) })
	}
	done := make(chan struct{})
	breaker := make(chan struct{})
	go func() { // until the writers are done
		defer close(breaker)
		for {
			select {
			case <-done:
				return
			case <-time.After(rand.N(time.Minute)):
				// There may be no lease to break.
				_, _ = l.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseBreak})
			}
		}
	}()
	wg.Wait()
	close(done)
	<-breaker
	for i := range networks {
		networks[i].underWay.Wait()
	}
}

func namesIn(t *testing.T, body string) []string {
	t.Helper()
	stream, err := eventstream.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return namesOf(stream)
}

// rounds is how often the chaos is tried.
func rounds() int {
	if os.Getenv(longMode) != "" {
		return 1000
	}
	return 20
}

// quick are the times of a local store, over a network.
func quick(strategy scope.Strategy) *scope.Options {
	return &scope.Options{
		Strategy: strategy, Lease: store.MinLease, CallTimeout: 10 * time.Second, GiveUp: 30 * time.Second,
	}
}

// Holders that count up in turn, over a network that loses and delays what it
// likes, while leases are broken: no number is skipped or written twice.
func TestTwoHolders_ChaosOfRuns(t *testing.T) {
	for range rounds() {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			var mu sync.Mutex
			written, unknown := 0, 0
			chaos(t, l, 4, func(_ int, st store.Store) {
				s := scope.New(st, quick(scope.Leased))
				defer s.Close()
				for range 4 {
					_ = s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
						err := countOne(ctx, h)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							written++
						case errors.Is(err, scope.ErrOutcomeUnknown):
							unknown++
						}
						return err
					}, nil)
				}
			})
			puts := l.noteds()
			for i, put := range puts {
				if put.body != strconv.Itoa(i+1) {
					t.Fatalf("put %d wrote %s: it was made of stale content", i+1, put.body)
				}
			}
			if n := len(puts); n < written || n > written+unknown {
				t.Errorf("%d puts took effect; %d were acknowledged, of %d it was not known", n, written, unknown)
			}
		})
	}
}

// countOne reads a number, takes its time, and writes the next one, even if its
// lease is lost by then.
func countOne(ctx context.Context, h *scope.Held) error {
	ctx = context.WithoutCancel(ctx)
	object, err := h.Get(ctx)
	if err != nil {
		return err
	}
	n := 0
	if len(object.Body) > 0 {
		if n, err = strconv.Atoi(string(object.Body)); err != nil {
			return err
		}
	}
	time.Sleep(rand.N(20 * time.Second))
	return put(strconv.Itoa(n+1))(ctx, h)
}

// The same for edits, with leases and without, whose callers lose patience now and
// then: what was acknowledged is there once, what was refused is not, and nothing
// is ever dropped from the document.
func TestTwoHolders_ChaosOfEdits(t *testing.T) {
	for range rounds() {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			var mu sync.Mutex
			outcomes := map[string]error{}
			chaos(t, l, 4, func(writer int, st store.Store) {
				s := scope.New(st, quick([]scope.Strategy{scope.Leased, scope.Optimistic}[writer%2]))
				defer s.Close()
				var wg sync.WaitGroup
				for i := range 6 {
					name := fmt.Sprintf("%d.%d", writer, i)
					time.Sleep(rand.N(5 * time.Second))
					wg.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), rand.N(5*time.Minute))
						defer cancel()
						_, err := s.Edit(ctx, blob, add(name))
						mu.Lock()
						defer mu.Unlock()
						outcomes[name] = err
					})
				}
				wg.Wait()
			})
			got := []string{}
			for _, put := range l.noteds() {
				before := got
				if got = namesIn(t, put.body); !slices.Equal(got[:min(len(before), len(got))], before) {
					t.Fatalf("%q was made of stale content and replaced %q", got, before)
				}
			}
			for name, err := range outcomes {
				n := len(slices.DeleteFunc(slices.Clone(got), func(other string) bool { return other != name }))
				if n > 1 || err == nil && n != 1 || err != nil && n != 0 && !errors.Is(err, scope.ErrOutcomeUnknown) {
					t.Errorf("event %s is there %d times, its edit said %v", name, n, err)
				}
			}
		})
	}
}
