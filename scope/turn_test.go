package scope_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// slow makes the requests take as long as they do on a local store with a document
// of some MB.
func (w *world) slow() {
	w.onCall(func(c storetest.Call) (bool, error) {
		switch c.Op {
		case "get":
			time.Sleep(7 * time.Millisecond)
		case "put":
			time.Sleep(12 * time.Millisecond)
		case "stat":
			time.Sleep(100 * time.Microsecond)
		default:
			time.Sleep(200 * time.Microsecond)
		}
		return true, nil
	})
}

// shared is how a stream was shared.
type shared struct {
	uploads []int64       // of each process
	longest time.Duration // wait of an edit, once all have had their first turn
}

// share lets processes edit a stream for five seconds, each with four callers who
// come back at once.
func (w *world) share(processes int) shared {
	w.slow()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var result shared
	var scopes []*scope.Scope
	begin := time.Now()
	for range processes {
		s := w.newScope(nil)
		scopes = append(scopes, s)
		for range 4 {
			wg.Go(func() {
				for time.Since(begin) < 5*time.Second {
					asked := time.Since(begin)
					r := edit(w.t, s, func(s *eventstream.Stream) error {
						return s.SetAttrs("at", time.Now().Format(time.RFC3339Nano))
					})
					if asked > time.Second {
						mu.Lock()
						result.longest = max(result.longest, r.Waited)
						mu.Unlock()
					}
				}
			})
		}
	}
	wg.Wait()
	for _, s := range scopes {
		result.uploads = append(result.uploads, s.Stats().Commits)
	}
	return result
}

func (s shared) sum() (n int64) {
	for _, uploads := range s.uploads {
		n += uploads
	}
	return n
}

// Processes that share a stream take turns: each gets as much done, no edit waits
// for more than one turn of each of the others, and together they get nearly as much
// done as one that is alone.
func TestEdit_TurnsOfProcesses(t *testing.T) {
	var alone shared
	inBubble(t, func(t *testing.T, w *world) { alone = w.share(1) })
	for _, processes := range []int{2, 4} {
		t.Run(strconv.Itoa(processes), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				got := w.share(processes)
				if least, most := slices.Min(got.uploads), slices.Max(got.uploads); 10*most > 13*least {
					t.Errorf("uploads of the processes: %v, want about as many of each", got.uploads)
				}
				if 10*got.sum() < 8*alone.sum() {
					t.Errorf("%d uploads, want at least 0.8 of %d", got.sum(), alone.sum())
				}
				if most := time.Duration(processes) * 50 * time.Millisecond; got.longest > most {
					t.Errorf("the longest wait of an edit was %v, want at most %v", got.longest, most)
				}
			})
		})
	}
}

// Whoever has to wait for a stream that it does not have reads it meanwhile, and
// works on it as it is then all the same.
func TestEdit_ReadsAhead(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		edit(t, w.newScope(nil), add("A"))
		before := w.count("get")
		l := hold(t, w.newScope(nil), &scope.HoldOptions{WaitForever: true})
		time.AfterFunc(time.Second, func() {
			if got := w.count("get") - before; got != 1 {
				t.Errorf("%d reads while the lease was held, want 1", got)
			}
			w.putUnder(l.ID(), `<EventStream><Event id="00" name="B" status="init"/></EventStream>`)
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
		edit(t, w.newScope(nil), add("C"))
		if got := w.count("get") - before; got != 2 {
			t.Errorf("%d reads, want another one under the lease", got)
		}
		w.wantNames("B", "C")
	})
}

// putAgain writes what stands there once more, under a lease.
func (w *world) putAgain(lease string) {
	w.t.Helper()
	now := w.get()
	_, err := w.in.Put(w.t.Context(), blob, now.Body, &store.PutOptions{
		Conditions: store.Conditions{LeaseID: lease}, Metadata: now.Metadata,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// The next in line follows what is written while it waits; the others do not.
func TestEdit_FollowsWhileItWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		next, other := w.newScope(nil), w.newScope(nil)
		edit(t, next, add("A"))
		edit(t, other, add("B"))
		l := hold(t, w.newScope(nil), &scope.HoldOptions{WaitForever: true})
		var wg sync.WaitGroup
		wg.Go(func() { edit(t, other, add("C")) })
		wg.Go(func() { edit(t, next, add("C")) })
		time.Sleep(time.Second)
		before := w.count("get")
		for range 3 {
			w.putAgain(l.ID())
			time.Sleep(time.Second)
		}
		if got := w.count("get") - before; got != 3 {
			t.Errorf("%d reads while three times something was written, want one each by the next in line", got)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		w.wantNames("A", "B", "C", "C")
	})
}

// Whoever has followed has nothing left to read at its turn, and keeps the lease no
// longer for that: it knows that it is not alone.
func TestEdit_HasReadAtItsTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.slow()
		s := w.newScope(nil)
		edit(t, s, add("A"))
		for begin := time.Now(); time.Since(begin) < time.Second; { // alone, so that it keeps the lease long
			edit(t, s, func(s *eventstream.Stream) error { return s.SetAttrs("at", time.Now().String()) })
		}
		l := hold(t, w.newScope(nil), &scope.HoldOptions{WaitForever: true})
		before := w.count("get")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		first := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			edit(t, s, add("B"))
			close(first)
			for ctx.Err() == nil {
				edit(t, s, func(s *eventstream.Stream) error { return s.SetAttrs("at", time.Now().String()) })
			}
		})
		time.Sleep(time.Second)
		w.putAgain(l.ID())
		time.Sleep(time.Second)
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-first
		if got := w.count("get") - before; got != 1 {
			t.Errorf("%d reads, want the one while the lease was held", got)
		}
		asked := time.Now()
		l = hold(t, w.newScope(nil), &scope.HoldOptions{WaitForever: true})
		if waited := time.Since(asked); waited > 60*time.Millisecond {
			t.Errorf("the lease was kept for %v more, want no more than MaxHold", waited)
		}
		stop()
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		w.wantNames("A", "B")
	})
}

// What cannot be read is not read time and again while the lease is waited for.
func TestEdit_ReadsWhatIsMalformedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.put([]byte("<EventStream>"))
		l := hold(t, w.newScope(nil), &scope.HoldOptions{WaitForever: true})
		before := w.count("get")
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := w.newScope(nil).Edit(t.Context(), blob, add("x"))
			wantErr(t, "Edit()", err, eventstream.ErrMalformed)
		})
		time.Sleep(time.Minute)
		if got := w.count("get") - before; got != 1 {
			t.Errorf("%d reads within a minute, want 1", got)
		}
		w.putAgain(l.ID())
		time.Sleep(time.Minute)
		if got := w.count("get") - before; got != 2 {
			t.Errorf("%d reads, want another one of what was written", got)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	})
}
