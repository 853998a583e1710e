package scope_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// eachCall runs a scenario again and again: with the first call to the store
// failing, with the second, and so on, in both forms, until all its calls have had
// their turn.
func eachCall(t *testing.T, f func(t *testing.T, w *world, n int, apply bool) (calls int)) {
	t.Helper()
	for _, apply := range []bool{false, true} {
		for n, calls := 1, 1; n <= calls; n++ {
			t.Run(fmt.Sprintf("call %d applied %t", n, apply), func(t *testing.T) {
				inBubble(t, func(t *testing.T, w *world) { calls = f(t, w, n, apply) })
			})
		}
	}
}

// failCall makes call n fail.
func failCall(n int, apply bool) storetest.Hook {
	return func(c storetest.Call) (bool, error) {
		if c.N == n {
			return apply, errReset
		}
		return true, nil
	}
}

// One call fails, and the caller goes on: the same document as without.
func TestCrash_EditGoesOn(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		w.onCall(failCall(n, apply))
		s := w.newScope(nil)
		for _, name := range []string{"a", "b", "c"} {
			edit(t, s, add(name))
		}
		w.wantNames("a", "b", "c")
		return w.st.Total()
	})
}

// The same for edits that come together, from two processes.
func TestCrash_ConcurrentEditsGoOn(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		w.onCall(failCall(n, apply))
		var wg sync.WaitGroup
		want := []string{}
		for p := range 2 {
			s := w.newScope(nil)
			for i := range 3 {
				name := fmt.Sprintf("%d.%d", p, i)
				want = append(want, name)
				wg.Go(func() { edit(t, s, add(name)) })
			}
		}
		wg.Wait()
		got := w.names()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("events = %q, want %q", got, want)
		}
		return min(40, w.st.Total())
	})
}

// One call fails, and before the next one another holder has taken the lease and
// written: nothing is lost, nothing is there twice.
func TestCrash_EditBuiltUpon(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		theirs := 0
		w.onCall(func(c storetest.Call) (bool, error) {
			switch c.N {
			case n:
				return apply, errReset
			case n + 1:
				if w.leaseState() == store.LeaseLeased {
					theirs++
					w.theirs()
				}
			}
			return true, nil
		})
		s := w.newScope(nil)
		for _, name := range []string{"a", "b", "c"} {
			edit(t, s, add(name))
		}
		got := slices.DeleteFunc(w.names(), func(name string) bool { return name == "theirs" })
		if !slices.Equal(got, []string{"a", "b", "c"}) || len(w.names()) != 3+theirs {
			t.Errorf("events = %q, want a, b, c and %d of the other", w.names(), theirs)
		}
		return w.st.Total()
	})
}

// The process dies at one call: from there on it reaches the store no more. The
// next one finds every edit that was acknowledged, and does the others.
func TestCrash_ProcessDies(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.N < n {
				return true, nil
			}
			return apply && c.N == n, errReset
		})
		dying := w.newScope(nil)
		acknowledged := []string{}
		for _, name := range []string{"a", "b", "c"} {
			if _, err := dying.Edit(t.Context(), blob, add(name)); err != nil {
				break
			}
			acknowledged = append(acknowledged, name)
		}
		synctest.Wait()
		calls := w.st.Total()
		next := newScope(t, w.in, nil)
		if got, err := next.Read(t.Context(), blob); err != nil || !slices.Equal(namesOf(got.Stream)[:len(acknowledged)], acknowledged) {
			t.Errorf("events after the crash = %q, %v; want %q acknowledged", namesOf(got.Stream), err, acknowledged)
		}
		for _, name := range []string{"a", "b", "c"} {
			edit(t, next, unlessThere(name))
		}
		w.wantNames("a", "b", "c")
		return min(calls, 6)
	})
}

func unlessThere(name string) func(*eventstream.Stream) error {
	return func(s *eventstream.Stream) error {
		if slices.Contains(namesOf(s), name) {
			return nil
		}
		return add(name)(s)
	}
}

// The same for Run, whose function reads, writes twice, and is done again if Run
// says that it failed.
func TestCrash_RunGoesOn(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		w.onCall(failCall(n, apply))
		s := w.newScope(nil)
		for _, letter := range []string{"a", "b"} {
			err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
				object, err := h.Get(ctx)
				if err != nil {
					return err
				}
				once := append(object.Body, letter...)
				twice := append(slices.Clone(once), letter...)
				return errors.Join(h.Put(ctx, once, nil), h.Put(ctx, twice, nil))
			}, nil)
			if err != nil {
				t.Fatalf("Run() = %v", err)
			}
		}
		if got := string(w.get().Body); got != "aabb" {
			t.Errorf("content = %q, want aabb", got)
		}
		return w.st.Total()
	})
}

func TestCrash_CreateGoesOn(t *testing.T) {
	eachCall(t, func(t *testing.T, w *world, n int, apply bool) int {
		if err := w.in.Delete(t.Context(), blob, nil); err != nil {
			t.Fatal(err)
		}
		w.onCall(failCall(n, apply))
		s := w.newScope(nil)
		if _, err := s.Create(t.Context(), blob, newStream(t, "a")); err != nil {
			t.Fatalf("Create() = %v", err)
		}
		edit(t, s, add("b"))
		w.wantNames("a", "b")
		return w.st.Total()
	})
}
