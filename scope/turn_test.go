package scope_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
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
