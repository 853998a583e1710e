package scope_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func hold(t *testing.T, s *scope.Scope, o *scope.HoldOptions) *scope.Lease {
	t.Helper()
	l, err := s.Hold(t.Context(), blob, o)
	if err != nil {
		t.Fatalf("Hold() = %v", err)
	}
	return l
}

func TestLease_KeptOverTenTimesItsDuration(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, w.newScope(nil), nil)
		time.Sleep(150 * time.Second)
		if err := l.Err(); err != nil {
			t.Errorf("Err() after 150 s = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseLeased {
			t.Errorf("state after 150 s = %v, want leased", got)
		}
		if got := w.count("renew"); got < 28 || got > 31 {
			t.Errorf("%d renewals in 150 s, want one every 5 s", got)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("Release() = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state after Release = %v, want available", got)
		}
	})
}

func TestLease_FreshIDEachTime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		seen := map[string]bool{}
		for range 1000 {
			l := hold(t, s, nil)
			if id := l.ID(); seen[id] || id != strings.ToLower(id) || len(id) != 36 {
				t.Fatalf("ID() = %q, want a fresh lower-case GUID", id)
			}
			seen[l.ID()] = true
			if l.Blob() != blob || l.Polls() != 1 || l.Waited() != 0 {
				t.Fatalf("Blob, Polls, Waited = %q, %d, %v; want %q, 1, 0s", l.Blob(), l.Polls(), l.Waited(), blob)
			}
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := w.leaseState(); got != store.LeaseAvailable {
				t.Fatalf("state after Release = %v, want available", got)
			}
		}
	})
}

func TestLease_TwoHoldersInOneProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		l := hold(t, s, nil)
		_, err := s.Hold(t.Context(), blob, nil)
		held, ok := errors.AsType[*scope.HeldError](err)
		if !ok || !errors.Is(err, store.ErrLeaseHeld) {
			t.Fatalf("second Hold() = %v, want a HeldError", err)
		}
		if held.Blob != blob || held.Lease.Holder == nil || held.Lease.Expires.IsZero() {
			t.Errorf("HeldError = %+v, want blob, holder and end", held)
		}
		if text := err.Error(); !strings.Contains(text, blob) || !strings.Contains(text, "by process") {
			t.Errorf("error text %q names neither blob nor holder", text)
		}
		if err := l.Err(); err != nil {
			t.Errorf("first lease: %v", err)
		}
	})
}

// Renewals that fail for a while must not cost the lease; those that fail for too
// long must, at the end of the trust window, and with no renewal to revive it.
func TestLease_RenewalOutcomes(t *testing.T) {
	for _, test := range []struct {
		name     string
		failures int
		apply    bool
		err      error
		hang     time.Duration
		lostBy   time.Duration // 0: kept
	}{
		{name: "one 503", failures: 1, err: store.ErrThrottled},
		{name: "one behind a lock", failures: 1, err: store.ErrStoreLocked},
		{name: "one reset", failures: 1, err: errReset},
		{name: "one lost answer", failures: 1, apply: true, err: errReset},
		{name: "one that hangs", failures: 1, err: errReset, hang: 2400 * time.Millisecond},
		{name: "seven in a row", failures: 7, err: errReset},
		{name: "all reset", failures: 1 << 30, err: errReset, lostBy: 12 * time.Second},
		{name: "all behind a lock", failures: 1 << 30, err: store.ErrStoreLocked, lostBy: 12 * time.Second},
		{name: "all unanswered", failures: 1 << 30, apply: true, err: errReset, lostBy: 12 * time.Second},
		{name: "all hang longer than the lease", failures: 1 << 30, err: errReset, hang: time.Minute, lostBy: 12 * time.Second},
		{name: "no right any more", failures: 1 << 30, err: store.ErrUnauthorized, lostBy: 12 * time.Second},
		{name: "passed on", failures: 1, err: store.ErrLeaseMismatch, lostBy: 5 * time.Second},
		{name: "broken", failures: 1, err: store.ErrLeaseBreaking, lostBy: 5 * time.Second},
		{name: "blob gone", failures: 1, err: store.ErrNotFound, lostBy: 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				n := test.failures
				w.onCall(func(c storetest.Call) (bool, error) {
					if c.Op != "renew" || n == 0 {
						return true, nil
					}
					n--
					time.Sleep(test.hang)
					return test.apply, test.err
				})
				l := hold(t, w.newScope(nil), nil)
				began := time.Now()
				select {
				case <-l.Context().Done():
				case <-time.After(30 * time.Second):
				}
				if test.lostBy == 0 {
					if err := l.Err(); err != nil {
						t.Errorf("lost after %v: %v", time.Since(began), err)
					}
					return
				}
				if got := time.Since(began); got != test.lostBy {
					t.Errorf("lost after %v, want %v", got, test.lostBy)
				}
				wantErr(t, "Err()", l.Err(), scope.ErrLeaseLost)
				wantErr(t, "cause", context.Cause(l.Context()), scope.ErrLeaseLost)
				w.onCall(nil)
				time.Sleep(time.Minute)
				wantErr(t, "Err() later", l.Err(), scope.ErrLeaseLost)
			})
		})
	}
}

// A renewal that succeeds after all, when the lease has been given up, revives
// nothing.
func TestLease_NeverRevived(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, newScope(t, &lateRenewals{w.st, 8 * time.Second}, nil), &scope.HoldOptions{Duration: 15 * time.Second})
		<-l.Context().Done() // after 12 s
		time.Sleep(2 * time.Second)
		wantErr(t, "Err() after a late renewal", l.Err(), scope.ErrLeaseLost)
		time.Sleep(time.Minute)
		if got := w.count("renew"); got != 1 {
			t.Errorf("%d renewals, want 1: none after the loss", got)
		}
	})
}

// lateRenewals renews, but answers late, and heeds no context.
type lateRenewals struct {
	store.Store
	delay time.Duration
}

func (s *lateRenewals) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	result, err := s.Store.Lease(ctx, name, r)
	if r.Action == store.LeaseRenew {
		time.Sleep(s.delay)
	}
	return result, err
}

func TestLease_LossIsNoticedWithinOneRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, w.newScope(nil), nil)
		time.Sleep(time.Second)
		w.breakLease()
		began := time.Now()
		<-l.Context().Done()
		if got := time.Since(began); got > 5*time.Second {
			t.Errorf("noticed after %v, want a third of the lease", got)
		}
		lost, ok := errors.AsType[*scope.LostError](l.Err())
		if !ok || lost.Acquired.IsZero() || lost.Renewed.IsZero() || lost.Blob != blob || lost.ID != l.ID() {
			t.Errorf("Err() = %+v, want a LostError that tells blob, lease and times", l.Err())
		}
		wantErr(t, "Err()", l.Err(), store.ErrLeaseBreaking)
	})
}

func TestLease_ReleaseIsSentWhateverTheContext(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, w.newScope(nil), nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Release(ctx); err != nil {
			t.Errorf("Release() = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
		wantErr(t, "Err() after Release", l.Err(), scope.ErrReleased)
		wantErr(t, "cause after Release", context.Cause(l.Context()), scope.ErrReleased)
		if err := l.Release(ctx); err != nil || w.count("release") != 1 {
			t.Errorf("second Release() = %v with %d requests, want nil and 1", err, w.count("release"))
		}
	})
}

func TestLease_ReleaseOutcomes(t *testing.T) {
	for _, test := range []struct {
		name     string
		failures int
		apply    bool
		err      error
		requests int
		fails    bool
	}{
		{"answer lost", 1, true, errReset, 2, false},
		{"request lost", 1, false, errReset, 2, false},
		{"busy twice", 2, false, store.ErrThrottled, 3, false},
		{"passed on", 1, false, store.ErrLeaseMismatch, 1, false},
		{"released already", 1, false, store.ErrLeaseNotPresent, 1, false},
		{"blob gone", 1, false, store.ErrNotFound, 1, false},
		{"no right", 9, false, store.ErrUnauthorized, 1, true},
		{"store away", 9, false, errReset, 4, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				l := hold(t, w.newScope(nil), nil)
				w.failNext("release", test.failures, test.apply, test.err)
				err := l.Release(t.Context())
				if (err != nil) != test.fails || test.fails && !errors.Is(err, test.err) {
					t.Errorf("Release() = %v, want an error: %t", err, test.fails)
				}
				if got := w.count("release"); got != test.requests {
					t.Errorf("%d requests, want %d", got, test.requests)
				}
			})
		})
	}
}

func TestLease_ReleaseDuringARenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.once("renew", func() (bool, error) { return true, hang(2 * time.Second) })
		l := hold(t, w.newScope(nil), nil)
		time.Sleep(6 * time.Second) // the renewal is under way
		if err := l.Release(t.Context()); err != nil {
			t.Errorf("Release() = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
	})
}

func TestLease_ReacquiredSoonAfterRelease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		if err := hold(t, s, nil).Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		l := hold(t, s, nil)
		time.Sleep(time.Minute)
		if err := l.Err(); err != nil {
			t.Errorf("second lease: %v", err)
		}
	})
}

// A process that was stopped must know at once that it has nothing any more, even
// before its timers run.
func TestLease_ErrLooksAtTheClock(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, w.newScope(nil), nil)
		w.onCall(func(c storetest.Call) (bool, error) { return false, errReset })
		time.Sleep(12*time.Second - time.Nanosecond)
		if err := l.Err(); err != nil {
			t.Errorf("Err() within the trust window = %v", err)
		}
		time.Sleep(time.Nanosecond)
		wantErr(t, "Err() at its end", l.Err(), scope.ErrLeaseLost)
	})
}

// What the keeper trusts must never outlast what the store grants.
func TestLease_TrustEndsBeforeTheStoresLease(t *testing.T) {
	for _, d := range []time.Duration{15 * time.Second, 23 * time.Second, 60 * time.Second} {
		inBubble(t, func(t *testing.T, w *world) {
			l := hold(t, w.newScope(nil), &scope.HoldOptions{Duration: d})
			w.onCall(func(c storetest.Call) (bool, error) { return false, errReset })
			<-l.Context().Done()
			if got := w.leaseState(); got != store.LeaseLeased {
				t.Errorf("duration %v: state when the keeper gives up = %v, want leased", d, got)
			}
			time.Sleep(min(2*time.Second, d/5) - time.Millisecond)
			if got := w.leaseState(); got != store.LeaseLeased {
				t.Errorf("duration %v: state 2 s later = %v, want leased", d, got)
			}
		})
	}
}

func TestHold_RefusedBeforeAnyRequest(t *testing.T) {
	for _, test := range []struct {
		name string
		o    scope.Options
		h    scope.HoldOptions
		text string
	}{
		{name: "too short", h: scope.HoldOptions{Duration: 14 * time.Second}, text: "14s"},
		{name: "too long", h: scope.HoldOptions{Duration: 61 * time.Second}, text: "1m1s"},
		{name: "not whole seconds", h: scope.HoldOptions{Duration: 15500 * time.Millisecond}, text: "15.5s"},
		{name: "negative", h: scope.HoldOptions{Duration: -2}, text: "-2ns"},
		{name: "renewed too late", o: scope.Options{Lease: 20 * time.Second, RenewEvery: 10 * time.Second}, text: "20s that is renewed every 10s"},
		{name: "infinite by default", o: scope.Options{Lease: store.LeaseInfinite}, text: "-1ns"},
		{name: "no margin", o: scope.Options{Margin: time.Second}, text: "margin of 1s is shorter than the 2.5s"},
		{name: "no time for a renewal", o: scope.Options{Margin: 8 * time.Second}, text: "trusted for 7s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(&test.o)
				_, err := s.Hold(t.Context(), blob, &test.h)
				wantErr(t, "Hold()", err, store.ErrInvalid)
				if err == nil || !strings.Contains(err.Error(), test.text) {
					t.Errorf("Hold() = %v, want %q in it", err, test.text)
				}
				if got := w.st.Total(); got != 0 {
					t.Errorf("%d requests, want none", got)
				}
			})
		})
	}
}

func TestHold_InfiniteOnlyWhenAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l := hold(t, w.newScope(nil), &scope.HoldOptions{Duration: store.LeaseInfinite})
		w.onCall(func(storetest.Call) (bool, error) { return false, errReset })
		time.Sleep(5 * time.Minute)
		if err := l.Err(); err != nil {
			t.Errorf("Err() after five minutes without a store = %v", err)
		}
		w.onCall(nil)
		w.breakLease()
		<-l.Context().Done()
		wantErr(t, "Err() after a break", l.Err(), scope.ErrLeaseLost)
	})
}

func TestHold_Container(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		l, err := w.newScope(nil).Hold(t.Context(), "", nil)
		if err != nil {
			t.Fatalf("Hold() = %v", err)
		}
		time.Sleep(time.Minute)
		if err := l.Err(); err != nil {
			t.Errorf("Err() = %v", err)
		}
		wantErr(t, "deleting the container", w.in.Delete(t.Context(), "", nil), store.ErrLeaseMissing)
	})
}

func TestHold_MissingBlob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		if _, err := s.Hold(t.Context(), "locks/sweep", nil); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Hold() = %v, want not found", err)
		}
		l, err := s.Hold(t.Context(), "locks/sweep", &scope.HoldOptions{Create: true})
		if err != nil {
			t.Fatalf("Hold() with Create = %v", err)
		}
		if err := l.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestHold_Adopt(t *testing.T) {
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, test := range []struct {
		name   string
		before func(w *world)
		want   error
	}{
		{"held", func(*world) {}, nil},
		{"expired and untouched", func(*world) { time.Sleep(time.Minute) }, nil},
		{"expired and changed", func(w *world) { time.Sleep(time.Minute); w.put([]byte{}) }, store.ErrLeaseMismatch},
		{"broken", func(w *world) { w.breakLease() }, store.ErrLeaseBreaking},
		{"unanswered at first", func(w *world) { w.failNext("renew", 1, true, errReset) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				_, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.MinLease})
				if err != nil {
					t.Fatal(err)
				}
				test.before(w)
				l, err := w.newScope(nil).Hold(t.Context(), blob, &scope.HoldOptions{LeaseID: strings.ToUpper(id)})
				if !errors.Is(err, test.want) {
					t.Fatalf("Hold() = %v, want %v", err, test.want)
				}
				if err != nil {
					return
				}
				if l.ID() != id {
					t.Errorf("ID() = %q, want %q", l.ID(), id)
				}
				time.Sleep(time.Minute)
				if err := l.Err(); err != nil {
					t.Errorf("adopted lease after a minute: %v", err)
				}
			})
		})
	}
}

// How long an adopted lease was acquired for cannot be seen: it may be no longer
// than the shortest there is.
func TestHold_AdoptedIsTrustedForTheShortestLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		acquired, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
		if err != nil {
			t.Fatal(err)
		}
		l := hold(t, w.newScope(&scope.Options{Lease: store.MaxLease}), &scope.HoldOptions{LeaseID: acquired.ID})
		w.onCall(func(storetest.Call) (bool, error) { return false, errReset })
		<-l.Context().Done()
		if got := w.leaseState(); got != store.LeaseLeased {
			t.Errorf("state when the keeper gives up = %v, want leased", got)
		}
	})
}

func TestScope_CloseReleasesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(nil)
		s := scope.New(w.st, nil)
		l := hold(t, s, nil)
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
		wantErr(t, "Err() of its lease", l.Err(), scope.ErrClosed)
		wantErr(t, "cause of its end", context.Cause(l.Context()), scope.ErrClosed)
		_, err := s.Hold(t.Context(), blob, nil)
		wantErr(t, "Hold() after Close", err, scope.ErrClosed)
		_, err = s.Edit(t.Context(), blob, nothing)
		wantErr(t, "Edit() after Close", err, scope.ErrClosed)
		if err := s.Close(); err != nil {
			t.Errorf("second Close() = %v", err)
		}
	})
}
