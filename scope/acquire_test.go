package scope_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestHold_WaitsForTheLease(t *testing.T) {
	for _, test := range []struct {
		name     string
		remote   bool
		o        scope.Options
		maxPolls int           // in 10 s
		slack    time.Duration // from the release to the next holder
	}{
		{name: "local", maxPolls: 1 << 15, slack: 5 * time.Millisecond},
		{name: "remote", remote: true, maxPolls: 40, slack: time.Second},
		{name: "article", remote: true, o: scope.Options{ArticleWait: true}, maxPolls: 14, slack: 2500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				var st store.Store = w.st
				if test.remote {
					st = remote{st}
				}
				s := newScope(t, st, &test.o)
				first := hold(t, s, nil)
				var freed time.Time
				time.AfterFunc(10*time.Second, func() {
					freed = time.Now()
					if err := first.Release(t.Context()); err != nil {
						t.Error(err)
					}
				})
				second := hold(t, s, &scope.HoldOptions{WaitForever: true})
				if late := time.Since(freed); freed.IsZero() || late > test.slack {
					t.Errorf("second holder %v after the release, want within %v", late, test.slack)
				}
				if second.Waited() < 10*time.Second || second.Polls() < 3 || second.Polls() > test.maxPolls {
					t.Errorf("Waited, Polls = %v, %d; want over 10s and at most %d", second.Waited(), second.Polls(), test.maxPolls)
				}
			})
		})
	}
}

// A local waiter looks, which disturbs nobody, and asks only when the lease is free.
// Where a version tells that nothing was written it has no need to look, and comes
// no later for that.
func TestHold_LocalWaiterLooksBeforeItAsks(t *testing.T) {
	for name, test := range map[string]struct {
		view        func(*world) store.Store
		least, most int // looks in a second
	}{
		"version":    {func(w *world) store.Store { return w.st }, 20, 30},
		"no version": {func(w *world) store.Store { return unversioned{w.st} }, 200, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				first := hold(t, w.newScope(nil), nil)
				began := time.Now()
				time.AfterFunc(time.Second, func() { first.Release(context.Background()) })
				hold(t, newScope(t, test.view(w), nil), &scope.HoldOptions{WaitForever: true})
				if late := time.Since(began) - time.Second; late > 5*time.Millisecond {
					t.Errorf("the waiter came %v after the release, want at most 5ms", late)
				}
				if got := w.count("acquire"); got != 3 {
					t.Errorf("%d acquires, want 3: the first holder's, one refused, one granted", got)
				}
				if got := w.count("stat"); got < test.least || got > test.most {
					t.Errorf("%d looks in a second, want %d to %d", got, test.least, test.most)
				}
			})
		})
	}
}

// unversioned is a local store without a version.
type unversioned struct{ store.Store }

func (unversioned) Local() bool { return true }

func TestHold_WaitIsBounded(t *testing.T) {
	for _, st := range []string{"local", "remote"} {
		t.Run(st, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				hold(t, w.newScope(nil), nil)
				s := w.newScope(nil)
				if st == "remote" {
					s = newScope(t, remote{w.st}, nil)
				}
				began := time.Now()
				_, err := s.Hold(t.Context(), blob, &scope.HoldOptions{Wait: 3 * time.Second})
				held, ok := errors.AsType[*scope.HeldError](err)
				if !ok || held.Waited != 3*time.Second || held.Polls < 2 || time.Since(began) != 3*time.Second {
					t.Errorf("Hold() = %+v after %v, want a HeldError after 3s", err, time.Since(began))
				}
			})
		})
	}
}

func TestHold_ContextEndsTheWait(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		hold(t, s, nil)
		reason := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, reason)
		defer cancel()
		_, err := s.Hold(ctx, blob, &scope.HoldOptions{WaitForever: true})
		wantErr(t, "Hold()", err, reason)
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		before := w.st.Total()
		_, err = s.Hold(ctx, blob, nil)
		wantErr(t, "Hold() with an ended context", err, context.Canceled)
		if got := w.st.Total() - before; got != 0 {
			t.Errorf("%d requests with an ended context, want none", got)
		}
	})
}

func TestHold_AcquireOutcomes(t *testing.T) {
	for _, test := range []struct {
		name     string
		failures int
		apply    bool
		err      error
		want     error
	}{
		{"answer lost", 1, true, errReset, nil},
		{"answers lost", 5, true, errReset, nil},
		{"requests lost", 5, false, errReset, nil},
		{"throttled", 5, false, store.ErrThrottled, nil},
		{"locked", 5, false, store.ErrStoreLocked, nil},
		{"locked for ever", 1 << 30, false, store.ErrStoreLocked, store.ErrStoreLocked},
		{"no right", 1, false, store.ErrUnauthorized, store.ErrUnauthorized},
		{"no container", 1, false, store.ErrContainerNotFound, store.ErrContainerNotFound},
		{"store away", 1 << 30, false, errReset, errReset},
		{"store deaf", 1 << 30, true, errReset, errReset},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.failNext("acquire", test.failures, test.apply, test.err)
				l, err := w.newScope(nil).Hold(t.Context(), blob, nil)
				if test.want != nil {
					wantErr(t, "Hold()", err, test.want)
					if got := w.leaseState(); got != store.LeaseAvailable {
						t.Errorf("state after a Hold that failed = %v, want available", got)
					}
					return
				}
				if err != nil {
					t.Fatalf("Hold() = %v", err)
				}
				time.Sleep(time.Minute)
				if err := l.Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Whoever's context ends behind a lock of the store is told of the lock.
func TestHold_ContextEndsBehindALock(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.Op == "acquire" {
				<-ctx.Done()
			}
			return false, &store.Error{Sentinel: store.ErrStoreLocked, Err: ctx.Err()}
		})
		_, err := w.newScope(nil).Hold(ctx, blob, nil)
		wantErr(t, "Hold()", err, store.ErrStoreLocked, context.DeadlineExceeded)
	})
}

// An answer that takes as long as the lease is worth nothing.
func TestHold_LateAnswerIsNotTrusted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		slow := &slowAnswers{Store: w.st, delay: 50 * time.Second}
		l, err := newScope(t, slow, nil).Hold(t.Context(), blob, nil)
		if err != nil {
			t.Fatal(err)
		}
		if slow.calls < 2 {
			t.Errorf("%d acquires, want a second one after an answer that came 50 s late", slow.calls)
		}
		time.Sleep(time.Minute)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
	})
}

// slowAnswers answers the first acquire late, and heeds no context.
type slowAnswers struct {
	store.Store
	delay time.Duration
	calls int
}

func (s *slowAnswers) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	result, err := s.Store.Lease(ctx, name, r)
	if r.Action == store.LeaseAcquire {
		if s.calls++; s.calls == 1 {
			time.Sleep(s.delay)
		}
	}
	return result, err
}

// A Hold that is canceled while its acquire is under way leaves no lease behind.
func TestHold_CanceledInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		w.once("acquire", func() (bool, error) { cancel(); return true, context.Canceled })
		_, err := w.newScope(nil).Hold(ctx, blob, nil)
		wantErr(t, "Hold()", err, context.Canceled)
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
	})
}

// deadProcess runs a process to its end and returns what it would have put down as
// the holder of a lease.
func deadProcess(t *testing.T, w *world, s *scope.Scope) store.Holder {
	t.Helper()
	l := hold(t, s, nil)
	holder := *w.get().Lease.Holder
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	holder.PID = cmd.Process.Pid
	return holder
}

func TestHold_BreaksTheLeaseOfADeadProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/pid"); err != nil {
		t.Logf("no /proc here: no process is taken for dead")
		return
	}
	w := newWorld(t)
	w.put(nil)
	dead := deadProcess(t, w, w.newScope(nil))
	elsewhere, reborn, unknown := dead, dead, dead
	elsewhere.Host = "another"
	reborn.PID, reborn.Started = os.Getpid(), "1"
	unknown.Started = ""
	alive := dead
	alive.PID = os.Getpid()
	for _, test := range []struct {
		name   string
		holder *store.Holder
		wait   time.Duration
		atOnce bool
	}{
		{"dead", &dead, time.Minute, true},
		{"dead, and we do not wait", &dead, 0, true},
		{"its number is another's now", &reborn, time.Minute, true},
		{"on another host", &elsewhere, time.Minute, false},
		{"of no known start", &unknown, time.Minute, false},
		{"not told", nil, time.Minute, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				_, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{
					Action: store.LeaseAcquire, Duration: store.MinLease, Holder: test.holder,
				})
				if err != nil {
					t.Fatal(err)
				}
				l := hold(t, w.newScope(nil), &scope.HoldOptions{Wait: test.wait})
				if atOnce := l.Waited() < 10*time.Millisecond; atOnce != test.atOnce {
					t.Errorf("waited %v, want at once: %t", l.Waited(), test.atOnce)
				}
			})
		})
	}
}

// Many processes that start at once and want one lease all get it in turn, and the
// requests stay bounded.
func TestHold_HundredWaiters(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const waiters = 100
		const work = 10 * time.Millisecond
		var mu sync.Mutex
		var holding, done int
		var waits []time.Duration
		var wg sync.WaitGroup
		began := time.Now()
		for range waiters {
			s := w.newScope(nil)
			wg.Go(func() {
				l, err := s.Hold(t.Context(), blob, &scope.HoldOptions{WaitForever: true})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				holding++
				if holding > 1 {
					t.Error("two hold at once")
				}
				mu.Unlock()
				time.Sleep(work)
				mu.Lock()
				holding--
				done++
				waits = append(waits, l.Waited())
				mu.Unlock()
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		t.Logf("%d waiters in %v, longest wait %v, %d requests", done, time.Since(began), slices.Max(waits), w.st.Total())
		if limit := 2 * waiters * work; done != waiters || time.Since(began) > limit {
			t.Errorf("%d waiters done in %v, want %d within %v", done, time.Since(began), waiters, limit)
		}
		if got := w.count("acquire"); got > 5*waiters {
			t.Errorf("%d acquires for %d waiters: a flood", got, waiters)
		}
	})
}

// Contention is no fault: it is counted, and nothing is logged.
func TestHold_CountsContention(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		hold(t, s, nil)
		if _, err := s.Hold(t.Context(), blob, nil); err == nil {
			t.Fatal("two hold at once")
		}
		if got := s.Stats(); got.Acquires != 2 || got.Refused != 1 {
			t.Errorf("Stats() = %+v, want 2 acquires and 1 refused", got)
		}
	})
}

func TestHold_MakesAnEmptyBlobThatAppearsMeanwhile(t *testing.T) {
	for _, refusal := range []error{store.ErrExists, store.ErrLeaseMissing, errReset} {
		inBubble(t, func(t *testing.T, w *world) {
			const name = "locks/sweep"
			w.once("put", func() (bool, error) {
				_, err := w.in.Put(t.Context(), name, []byte("theirs"), nil)
				return false, errors.Join(err, refusal)
			})
			if _, err := w.newScope(nil).Hold(t.Context(), name, &scope.HoldOptions{Create: true}); err != nil {
				t.Errorf("Hold() after %v = %v", refusal, err)
			}
			object, err := w.in.Get(t.Context(), name, nil)
			if err != nil || string(object.Body) != "theirs" {
				t.Errorf("content = %q, %v; want what the other made", object.Body, err)
			}
		})
	}
}

// Fifty processes create one blob at once: one makes it, all go on.
func TestHold_FiftyCreators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var wg sync.WaitGroup
		for range 50 {
			s := w.newScope(nil)
			wg.Go(func() {
				l, err := s.Hold(t.Context(), "locks/sweep", &scope.HoldOptions{Create: true, WaitForever: true})
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestHold_WaitSurvivesTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		first := hold(t, s, nil)
		time.AfterFunc(5*time.Second, func() { first.Release(context.Background()) })
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.N%3 == 0 && c.Op != "release" {
				return c.N%2 == 0, errReset
			}
			return true, nil
		})
		hold(t, s, &scope.HoldOptions{WaitForever: true})
	})
}
