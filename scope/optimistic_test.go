package scope_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

func optimistic() *scope.Options { return &scope.Options{Strategy: scope.Optimistic} }

func TestOptimistic_TakesNoLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(optimistic())
		edit(t, s, add("a"))
		time.Sleep(time.Second)
		edit(t, s, add("b"))
		w.wantNames("a", "b")
		if got := w.count("acquire"); got != 0 {
			t.Errorf("%d acquires, want none", got)
		}
	})
}

// Writers that overtake each other lose nothing.
func TestOptimistic_ManyWriters(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.onCall(failEvery(11))
		var wg sync.WaitGroup
		want := []string{}
		for p := range 5 {
			s := w.newScope(optimistic())
			for i := range 10 {
				want = append(want, fmt.Sprintf("%d.%d", p, i))
			}
			wg.Go(func() {
				for i := range 10 {
					edit(t, s, add(fmt.Sprintf("%d.%d", p, i)))
				}
			})
		}
		wg.Wait()
		got := w.names()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("events = %q, want %q", got, want)
		}
	})
}

// A blob that someone has leased is waited for.
func TestOptimistic_WaitsForALease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(optimistic())
		edit(t, s, add("a"))
		_, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		edit(t, s, add("b"))
		if got := time.Since(began); got < 15*time.Second || got > 16*time.Second {
			t.Errorf("written after %v, want when the lease has run out", got)
		}
		w.wantNames("a", "b")
		if got := w.count("get"); got > 10 {
			t.Errorf("%d reads of the document while it was leased, want looks instead", got)
		}
	})
}

func TestOptimistic_CrashGoesOn(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		w.onCall(failCall(n, apply))
		s := w.newScope(optimistic())
		for _, name := range []string{"a", "b", "c"} {
			edit(t, s, add(name))
		}
		w.wantNames("a", "b", "c")
		return w.st.Total()
	})
}
