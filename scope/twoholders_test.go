package scope_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// The tests of this file try to make two holders of one lease write. In each of
// them there is a stale holder, whose lease has passed on, and a next one; a
// ledger sees that nothing of the stale one lands on top of what the next one
// wrote.

// The stale holder's write was sent in time, hung in the network, and arrives when
// the lease has passed on. Its sender was told that the outcome is unknown.
func TestTwoHolders_DelayedWrite(t *testing.T) {
	type arrival struct {
		name     string
		happens  func(t *testing.T, l *ledger, next *scope.Scope, arrive func())
		want     error // for the late one
		ofDelete error // if not the same
	}
	arrivals := []arrival{
		{name: "while the next one holds", want: store.ErrLeaseMismatch,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				err := next.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					defer arrive()
					return put("next")(ctx, h)
				}, nil)
				if err != nil {
					t.Error(err)
				}
			}},
		{name: "before the next one has written", want: store.ErrLeaseMismatch,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				err := next.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					arrive()
					return put("next")(ctx, h)
				}, nil)
				if err != nil {
					t.Error(err)
				}
			}},
		{name: "after the next one's release", want: store.ErrLeaseNotPresent,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				overwrite(t, next, "next")
				arrive()
			}},
		{name: "after the next one's lease has run out, too", want: store.ErrLeaseMismatch,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				time.Sleep(store.MinLease)
				if _, err := l.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease}); err != nil {
					t.Error(err)
				}
				time.Sleep(store.MinLease)
				arrive()
			}},
		{name: "after a write without a lease", want: store.ErrLeaseNotPresent,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				time.Sleep(store.MinLease)
				if _, err := l.Put(t.Context(), blob, []byte("next"), &store.PutOptions{}); err != nil {
					t.Error(err)
				}
				arrive()
			}},
		{name: "after the blob was deleted", want: store.ErrLeaseNotPresent, ofDelete: store.ErrNotFound,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				remove(t, next)
				arrive()
			}},
		{name: "after the blob was deleted and made anew", want: store.ErrLeaseNotPresent,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				remove(t, next)
				if _, err := l.Put(t.Context(), blob, nil, &store.PutOptions{}); err != nil {
					t.Error(err)
				}
				arrive()
			}},
		{name: "after the lease has run out and nobody came", want: store.ErrLeaseLost,
			happens: func(t *testing.T, l *ledger, next *scope.Scope, arrive func()) {
				time.Sleep(store.MinLease)
				arrive()
			}},
	}
	for op, write := range staleWrites() {
		for _, test := range arrivals {
			t.Run(op+" "+test.name, func(t *testing.T) {
				contest(t, func(t *testing.T, w *world, l *ledger) {
					late := &delayed{Store: w.st, op: "put", beneath: l}
					want := test.want
					if op == "delete" {
						late.op, want = op, cmp.Or(test.ofDelete, test.want)
					}
					err := write(t, newScope(t, late, nil), w.cut)
					wantErr(t, "the write that was not answered", err, scope.ErrOutcomeUnknown)
					test.happens(t, l, nextScope(t, l), func() {
						before, missing := l.Get(t.Context(), blob, nil)
						wantErr(t, "the write that arrives", late.arrive(), want)
						after, _ := l.Get(t.Context(), blob, nil)
						if missing == nil && after == nil || after != nil && (before == nil || after.ETag != before.ETag) {
							t.Errorf("the write that arrives made %+v of %+v", after, before)
						}
					})
				})
			})
		}
	}
}

// staleWrites write once they have the lease, and the network is cut.
func staleWrites() map[string]func(t *testing.T, s *scope.Scope, cut func()) error {
	return map[string]func(t *testing.T, s *scope.Scope, cut func()) error{
		"put": func(t *testing.T, s *scope.Scope, cut func()) error {
			return s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
				cut()
				return put("stale")(ctx, h)
			}, nil)
		},
		"delete": func(t *testing.T, s *scope.Scope, cut func()) error {
			return s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
				cut()
				return h.Delete(ctx)
			}, nil)
		},
		"edit": func(t *testing.T, s *scope.Scope, cut func()) error {
			_, err := s.Edit(t.Context(), blob, func(stream *eventstream.Stream) error {
				cut()
				return add("stale")(stream)
			})
			return err
		},
	}
}

func remove(t *testing.T, s *scope.Scope) {
	t.Helper()
	err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error { return h.Delete(ctx) }, nil)
	if err != nil {
		t.Error(err)
	}
}

// An upload that was sent twice, since the first one was not answered, and whose
// first one arrives when the next holder has built upon the second one.
func TestTwoHolders_DelayedUploadOfARepeatedEdit(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		late := &delayed{Store: w.st, op: "put", beneath: l}
		s, next := newScope(t, late, nil), nextScope(t, l)
		edit(t, s, add("a"))
		edit(t, next, add("b"))
		time.Sleep(time.Second) // which ends the lease that lingered
		wantErr(t, "the first upload, late", late.arrive(), store.ErrLeaseNotPresent)
		edit(t, s, add("c"))
		w.wantNames("a", "b", "c")
	})
}

// The stale holder's release arrives when the next one holds.
func TestTwoHolders_DelayedRelease(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		late := &delayed{Store: w.st, op: "release", beneath: l}
		s, next := newScope(t, late, nil), nextScope(t, l)
		overwrite(t, s, "stale") // its release is repeated
		err := next.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			wantErr(t, "the release, late", late.arrive(), store.ErrLeaseMismatch)
			return put("next")(ctx, h)
		}, nil)
		if err != nil {
			t.Error(err)
		}
		wantErr(t, "the release, later still", late.arrive(), store.ErrLeaseMismatch)
		w.wantBody("next")
	})
}

// A renewal arrives when its holder has given the lease up: the store may take it,
// but the holder does not come back for it, and the next one waits for it at most
// as long as a lease lasts.
func TestTwoHolders_DelayedRenewal(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(t *testing.T, next *scope.Scope) // its arrival, 12 s after the grant
		want   error
	}{
		{"in the last moment", func(*testing.T, *scope.Scope) { time.Sleep(2999 * time.Millisecond) }, nil},
		{"after the lease has run out", func(*testing.T, *scope.Scope) { time.Sleep(3 * time.Second) }, nil},
		{"after the next one's release", func(t *testing.T, next *scope.Scope) { overwrite(t, next, "next") }, store.ErrLeaseMismatch},
		{"while the next one holds", func(t *testing.T, next *scope.Scope) {
			l := hold(t, next, &scope.HoldOptions{WaitForever: true})
			time.AfterFunc(time.Second, func() { l.Release(context.Background()) })
		}, store.ErrLeaseMismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			contest(t, func(t *testing.T, w *world, l *ledger) {
				late := &delayed{Store: w.st, op: "renew", beneath: l}
				s, next := newScope(t, late, nil), nextScope(t, l)
				err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					w.cut()
					<-ctx.Done()
					test.before(t, next)
					if err := late.arrive(); !errors.Is(err, test.want) {
						t.Errorf("the renewal that arrives = %v, want %v", err, test.want)
					}
					wantErr(t, "a write after it", put("stale")(context.WithoutCancel(ctx), h), scope.ErrLeaseLost)
					return nil
				}, nil)
				wantErr(t, "Run()", err, scope.ErrLeaseLost)
				if got := w.count("put"); got != 0 {
					t.Errorf("%d puts were sent under the lost lease", got)
				}
				began := time.Now()
				overwrite(t, next, "next")
				if got := time.Since(began); got > store.MinLease+time.Second {
					t.Errorf("the next holder waited %v, want a lease at most", got)
				}
				w.wantBody("next")
			})
		})
	}
}

// The first of two acquires arrives when its holder has worked, under the second
// one, and released.
func TestTwoHolders_DelayedAcquire(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		late := &delayed{Store: w.st, op: "acquire", beneath: l}
		s, next := newScope(t, late, nil), nextScope(t, l)
		overwrite(t, s, "stale")
		err := next.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			wantErr(t, "the acquire, late", late.arrive(), store.ErrLeaseHeld)
			return put("next")(ctx, h)
		}, nil)
		if err != nil {
			t.Error(err)
		}
		if err := late.arrive(); err != nil { // nobody holds: it is granted, to nobody
			t.Error(err)
		}
		began := time.Now()
		overwrite(t, s, "last")
		if got := time.Since(began); got < store.MinLease || got > store.MinLease+time.Second {
			t.Errorf("the lease that nobody holds was waited for %v, want it to run out", got)
		}
		w.wantBody("last")
	})
}

// Whoever gives up an acquire that was not answered leaves nothing that writes,
// should the acquire be granted after all, and after its release.
func TestTwoHolders_AcquireGrantedAfterItWasGivenUp(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		late := &delayed{Store: w.st, op: "acquire", beneath: l}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := newScope(t, late, nil).Run(ctx, blob, put("stale"), nil)
		wantErr(t, "Run()", err, context.DeadlineExceeded)
		if err := late.arrive(); err != nil {
			t.Error(err)
		}
		overwrite(t, nextScope(t, l), "next")
		if got := l.noteds(); len(got) != 1 || got[0].body != "next" {
			t.Errorf("written: %v, want next alone", got)
		}
	})
}

// The lease is broken, and passes on, and the next one writes, all while the stale
// holder's upload is on its way.
func TestTwoHolders_BrokenDuringTheUpload(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := w.newScope(nil), nextScope(t, l)
		takeOver := func(f func()) {
			w.once("put", func() (bool, error) { w.breakLease(); f(); return true, nil })
		}
		takeOver(func() { edit(t, next, add("next")) })
		edit(t, s, add("first"))
		w.wantNames("next", "first") // it ran again

		takeOver(func() { overwrite(t, next, "next") })
		err := s.Run(t.Context(), blob, put("stale"), nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseNotPresent)
		w.wantBody("next")
	})
}

// An acquire is granted at once and answered when the lease has run out and the
// next one is inside.
func TestTwoHolders_GrantedBeforeAndAnsweredAfter(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := newScope(t, &lateAnswers{Store: w.st, op: "acquire", delay: 20 * time.Second}, nil), nextScope(t, l)
		var inside int // without a mutex: the lease is the lock, and the race detector sees to it
		work := func(body string) func(context.Context, *scope.Held) error {
			return func(ctx context.Context, h *scope.Held) error {
				if inside++; inside != 1 {
					t.Error("two inside")
				}
				time.Sleep(10 * time.Second)
				inside--
				return put(body)(ctx, h)
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.Run(t.Context(), blob, work("first"), nil); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if err := next.Run(t.Context(), blob, work("next"), nil); err != nil {
			t.Error(err)
		}
		wg.Wait()
		w.wantBody("first") // whose turn came second
	})
}

// An upload is carried out in time and answered when the lease has run out and the
// next one has written: it counts, and the next one has built upon it.
func TestTwoHolders_WrittenBeforeAndAnsweredAfter(t *testing.T) {
	t.Run("edit", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			w.cutRenewals()
			s, next := newScope(t, &lateAnswers{Store: w.st, op: "put", delay: 20 * time.Second}, nil), nextScope(t, l)
			var wg sync.WaitGroup
			wg.Go(func() { edit(t, s, add("first")) })
			synctest.Wait()
			edit(t, next, add("next"))
			wg.Wait()
			edit(t, s, add("last"))
			w.wantNames("first", "next", "last")
		})
	})
	t.Run("run", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			w.cutRenewals()
			s, next := newScope(t, &lateAnswers{Store: w.st, op: "put", delay: 20 * time.Second}, nil), nextScope(t, l)
			var wg sync.WaitGroup
			wg.Go(func() {
				err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					ctx = context.WithoutCancel(ctx)
					if err := put("first")(ctx, h); err != nil {
						t.Errorf("Put() = %v, want that it was written", err)
					}
					wantErr(t, "a second Put()", put("stale")(ctx, h), scope.ErrLeaseLost)
					return nil
				}, nil)
				wantErr(t, "Run()", err, scope.ErrLeaseLost)
			})
			synctest.Wait()
			overwrite(t, next, "next")
			wg.Wait()
			w.wantBody("next")
		})
	})
}

// An upload is sent in time and arrives when the lease has run out, though nobody
// has come: the store refuses it all the same.
func TestTwoHolders_SentBeforeAndArrivedAfter(t *testing.T) {
	slow := &scope.Options{CallTimeout: time.Minute}
	uploadSlowly := func(w *world) {
		sent := false
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.Op == "put" && !sent {
				sent = true
				time.Sleep(20 * time.Second)
			}
			if c.Op == "renew" {
				return false, errReset
			}
			return true, nil
		})
	}
	contest(t, func(t *testing.T, w *world, l *ledger) {
		uploadSlowly(w)
		runs := 0
		edit(t, w.newScope(slow), func(s *eventstream.Stream) error { runs++; return add("ours")(s) })
		w.wantNames("ours")
		if puts := w.count("put"); runs != 2 || puts != 2 {
			t.Errorf("run %d times with %d puts, want again after the refusal", runs, puts)
		}
	})
	contest(t, func(t *testing.T, w *world, l *ledger) {
		uploadSlowly(w)
		err := w.newScope(slow).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			return put("stale")(context.WithoutCancel(ctx), h)
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost)
		w.wantBody("")
	})
}

// The store's clock runs faster than the holder's, by more than the margin: the
// holder is sure of a lease that has passed on.
func TestTwoHolders_StoreClockRunsFaster(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := newScope(t, fastClock{w.st}, &scope.Options{Lease: store.MaxLease}), nextScope(t, l)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			w.cutRenewals()
			overwrite(t, next, "next")
			if ctx.Err() != nil {
				t.Error("the stale holder has noticed before it writes: this tests nothing")
			}
			return put("stale")(ctx, h)
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseNotPresent)
		w.wantBody("next")
	})
}

// With clocks that run alike no two holders so much as believe that they hold.
func TestTwoHolders_NoneBelievesItTooLong(t *testing.T) {
	for _, d := range []time.Duration{15 * time.Second, 37 * time.Second, 60 * time.Second} {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			first := hold(t, w.newScope(nil), &scope.HoldOptions{Duration: d})
			time.Sleep(d + d/5)
			w.cut()
			hold(t, nextScope(t, l), &scope.HoldOptions{WaitForever: true})
			wantErr(t, fmt.Sprintf("first lease of %v, when the next one has it", d), first.Err(), scope.ErrLeaseLost)
			wantErr(t, "cause", context.Cause(first.Context()), scope.ErrLeaseLost)
			w.onCall(nil)
		})
	}
}

// Two propose the same lease ID, and the store takes the second acquire for a
// repetition of the first: both are inside, and the ETag alone keeps them apart.
func TestTwoHolders_SameID(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		o := &scope.RunOptions{ID: "0f8fad5b-d9cb-469f-a165-70867728950e"}
		s, twin := w.newScope(nil), w.newScope(nil)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			if err := twin.Run(ctx, blob, put("twin"), o); err != nil {
				t.Errorf("Run() of the twin = %v", err)
			}
			// The twin has released what was the lease of both.
			return put("stale")(ctx, h)
		}, o)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseNotPresent)
		w.wantBody("twin")

		err = s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			return twin.Run(ctx, blob, func(ctx context.Context, second *scope.Held) error {
				if err := put("first")(ctx, h); err != nil {
					t.Errorf("Put() of the first to write = %v", err)
				}
				return put("second")(ctx, second)
			}, o)
		}, o)
		wantErr(t, "Put() of the second to write", err, store.ErrConditionNotMet)
		w.wantBody("first")
	})
}

// A write under a shared ID is not answered, and by the time it is asked about the
// twin has written.
func TestTwoHolders_SameIDUnanswered(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes []string // what is written by the time of the look
		want   error
	}{
		{"ours came to nothing", []string{"the twin's"}, scope.ErrOutcomeUnknown},
		{"ours was overwritten", []string{"ours", "twin"}, scope.ErrOutcomeUnknown},
		{"the same bytes", []string{"ours"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					w.once("put", func() (bool, error) {
						for _, body := range test.writes {
							w.putUnder(h.ID(), body)
						}
						return false, errReset
					})
					return put("ours")(ctx, h)
				}, nil)
				if test.want != nil {
					wantErr(t, "Run()", err, test.want)
				} else if err != nil {
					t.Errorf("Run() = %v", err)
				}
				w.wantBody(test.writes[len(test.writes)-1])
			})
		})
	}
}

// A lease is adopted by its ID while the holder that had been taken for dead lives.
func TestTwoHolders_AdoptedFromTheLiving(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := w.newScope(nil), nextScope(t, l)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			adopted := hold(t, next, &scope.HoldOptions{LeaseID: h.ID()})
			c := store.Conditions{LeaseID: adopted.ID()}
			if _, err := l.Put(ctx, blob, []byte("next"), &store.PutOptions{Conditions: c}); err != nil {
				t.Error(err)
			}
			wantErr(t, "Put() of the old holder", put("stale")(ctx, h), store.ErrConditionNotMet)
			if err := adopted.Release(ctx); err != nil {
				t.Error(err)
			}
			return put("stale")(ctx, h)
		}, nil)
		wantErr(t, "Run() of the old holder", err, scope.ErrLeaseLost)
		w.wantBody("next")
	})
}

// A lease is adopted that has been taken over: after a restart that took too long.
func TestTwoHolders_AdoptedTooLate(t *testing.T) {
	for _, test := range []struct {
		name    string
		happens func(t *testing.T, w *world, next *scope.Scope)
	}{
		{"while the next one holds", func(t *testing.T, w *world, next *scope.Scope) { hold(t, next, nil) }},
		{"after the next one's release", func(t *testing.T, w *world, next *scope.Scope) { overwrite(t, next, "next") }},
		{"after the next one's lease has run out, too", func(t *testing.T, w *world, next *scope.Scope) {
			acquired, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
			if err != nil || acquired.ID == "" {
				t.Errorf("acquire = %+v, %v", acquired, err)
			}
			time.Sleep(time.Minute)
		}},
		{"after the blob was made anew", func(t *testing.T, w *world, next *scope.Scope) { remove(t, next); w.put(nil) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			contest(t, func(t *testing.T, w *world, l *ledger) {
				before, err := l.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				test.happens(t, w, nextScope(t, l))
				_, err = w.newScope(nil).Hold(t.Context(), blob, &scope.HoldOptions{LeaseID: before.ID})
				wantErr(t, "adopting", err, store.ErrLeaseMismatch)
			})
		})
	}
}

// Somebody changes the ID of the lease, and so takes it for himself.
func TestTwoHolders_ChangedID(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
		err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			change := &store.LeaseRequest{Action: store.LeaseChange, ID: h.ID(), NewID: id}
			if _, err := l.Lease(ctx, blob, change); err != nil {
				t.Error(err)
			}
			c := store.Conditions{LeaseID: id}
			if _, err := l.Put(ctx, blob, []byte("next"), &store.PutOptions{Conditions: c}); err != nil {
				t.Error(err)
			}
			return put("stale")(ctx, h)
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseMismatch)
		w.wantBody("next")
		if got := w.leaseState(); got != store.LeaseLeased {
			t.Errorf("after the release of the old ID the lease is %v, want leased under the new one", got)
		}
	})
}

// The blob is deleted and made anew, with the same bytes, beneath its holder.
func TestTwoHolders_MadeAnewBeneathTheHolder(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s := w.newScope(nil)
		replace := func() {
			w.breakLease()
			same := w.get().Body
			if err := l.Delete(t.Context(), blob, nil); err != nil {
				t.Error(err)
			}
			w.put(same)
		}
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			replace()
			return put("stale")(ctx, h)
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseNotPresent)
		w.wantBody("")

		runs := 0
		edit(t, s, func(stream *eventstream.Stream) error {
			if runs++; runs == 1 {
				replace()
			}
			return add("ours")(stream)
		})
		w.wantNames("ours")
		if runs != 2 {
			t.Errorf("run %d times, want again on the new blob", runs)
		}
	})
}

// The container is deleted beneath the holder, and perhaps made anew. That it is
// gone is not called a lost lease.
func TestTwoHolders_ContainerDeleted(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint("made anew ", again), func(t *testing.T) {
			contest(t, func(t *testing.T, w *world, l *ledger) {
				err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					if err := l.Delete(ctx, "", nil); err != nil {
						t.Error(err)
					}
					if again {
						if err := l.Create(ctx); err != nil {
							t.Error(err)
						}
						w.put(nil)
					}
					return put("stale")(ctx, h)
				}, nil)
				if again {
					wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseNotPresent)
					w.wantBody("")
					return
				}
				if wantErr(t, "Run()", err, store.ErrContainerNotFound); errors.Is(err, scope.ErrLeaseLost) {
					t.Errorf("Run() = %v, want no word of a lost lease", err)
				}
			})
		})
	}
}

// Several scopes, and both ways to hold, in one process: none of them passes for
// another.
func TestTwoHolders_InOneProcess(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, other := w.newScope(nil), w.newScope(nil)
		edit(t, s, add("a")) // and it lingers
		lease := hold(t, other, &scope.HoldOptions{WaitForever: true})
		var wg sync.WaitGroup
		for _, s := range []*scope.Scope{s, other} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			wg.Go(func() {
				_, err := s.Edit(ctx, blob, add("never"))
				wantErr(t, "Edit() while a lease is held", err, store.ErrLeaseHeld, context.DeadlineExceeded)
			})
			wg.Go(func() {
				err := s.Run(t.Context(), blob, put("never"), &scope.RunOptions{Wait: time.Second})
				wantErr(t, "Run() while a lease is held", err, store.ErrLeaseHeld)
			})
		}
		wg.Wait()
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		edit(t, s, add("b"))
		w.wantNames("a", "b")
	})
}

// A lease that lingers after an edit is taken away, and the next edit of its line
// comes before anyone has noticed.
func TestTwoHolders_TakenWhileItLingers(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := w.newScope(&scope.Options{Linger: time.Second}), nextScope(t, l)
		edit(t, s, add("a"))
		w.breakLease()
		edit(t, next, add("next"))
		edit(t, s, add("b"))
		w.wantNames("a", "next", "b")
	})
}

// Writers without a lease and holders of one keep out of each other's way.
func TestTwoHolders_OptimisticAndLeased(t *testing.T) {
	t.Run("the one without comes second", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			s, next := newScope(t, l, optimistic()), w.newScope(nil)
			runs := 0
			edit(t, s, func(stream *eventstream.Stream) error {
				if runs++; runs == 1 {
					edit(t, next, add("leased"))
				}
				return add("optimistic")(stream)
			})
			w.wantNames("leased", "optimistic")
		})
	})
	t.Run("the one without finds it leased", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			s, next := newScope(t, l, optimistic()), w.newScope(nil)
			var wg sync.WaitGroup
			edit(t, next, func(stream *eventstream.Stream) error {
				wg.Go(func() { edit(t, s, add("optimistic")) })
				time.Sleep(time.Minute)
				return add("leased")(stream)
			})
			wg.Wait()
			w.wantNames("leased", "optimistic")
		})
	})
	t.Run("the one without overtakes a lease that has run out", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			s, next := w.newScope(nil), newScope(t, l, optimistic())
			runs := 0
			edit(t, s, func(stream *eventstream.Stream) error {
				if runs++; runs == 1 {
					w.cutRenewals()
					edit(t, next, add("optimistic"))
				}
				return add("leased")(stream)
			})
			w.wantNames("optimistic", "leased")
		})
	})
	t.Run("an upload without a lease arrives late", func(t *testing.T) {
		contest(t, func(t *testing.T, w *world, l *ledger) {
			late := &delayed{Store: w.st, op: "put", beneath: l}
			s, next := newScope(t, late, optimistic()), nextScope(t, l)
			_, err := s.Edit(t.Context(), blob, func(stream *eventstream.Stream) error { w.cut(); return add("stale")(stream) })
			wantErr(t, "Edit()", err, scope.ErrOutcomeUnknown)
			edit(t, next, func(stream *eventstream.Stream) error {
				wantErr(t, "the upload, late", late.arrive(), store.ErrLeaseMissing)
				return add("next")(stream)
			})
			time.Sleep(time.Second)
			wantErr(t, "the upload, later", late.arrive(), store.ErrConditionNotMet)
			w.wantNames("next")
		})
	})
}

// Two see that a holder is dead. The one breaks its lease and takes over; the
// break of the other one comes after that, and must not hit the living.
func TestTwoHolders_BreakOfTheDeadComesLate(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/pid"); err != nil {
		t.Logf("no /proc here: no process is taken for dead")
		return
	}
	alive := newWorld(t)
	alive.put(nil)
	dead := deadProcess(t, alive, alive.newScope(nil))
	contest(t, func(t *testing.T, w *world, l *ledger) {
		orphaned := &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease, Holder: &dead}
		if _, err := l.Lease(t.Context(), blob, orphaned); err != nil {
			t.Fatal(err)
		}
		var living *scope.Lease
		w.once("break", func() (bool, error) { living = hold(t, nextScope(t, l), nil); return true, nil })
		_, err := w.newScope(nil).Hold(t.Context(), blob, nil)
		wantErr(t, "Hold() of the second", err, store.ErrLeaseHeld)
		if living == nil {
			t.Fatal("no break was sent")
		}
		time.Sleep(time.Minute)
		if err := living.Err(); err != nil {
			t.Errorf("the living holder's lease: %v", err)
		}
	})
}

// A lease without an end is broken behind the back of its holder, who is sure of it
// for ever.
func TestTwoHolders_InfiniteLeaseBroken(t *testing.T) {
	contest(t, func(t *testing.T, w *world, l *ledger) {
		s, next := w.newScope(nil), nextScope(t, l)
		lease := hold(t, s, &scope.HoldOptions{Duration: store.LeaseInfinite})
		w.cut()
		time.Sleep(time.Hour)
		w.breakLease()
		overwrite(t, next, "next")
		if err := lease.Err(); err != nil {
			t.Errorf("Err() of a holder that cannot know = %v", err)
		}
		w.onCall(nil)
		c := store.Conditions{LeaseID: lease.ID()}
		_, err := w.st.Put(t.Context(), blob, []byte("stale"), &store.PutOptions{Conditions: c})
		wantErr(t, "its write", err, store.ErrLeaseNotPresent)
		<-lease.Context().Done()
		wantErr(t, "Err() after its next renewal", lease.Err(), scope.ErrLeaseLost, store.ErrLeaseMismatch)
		w.wantBody("next")
	})
}
