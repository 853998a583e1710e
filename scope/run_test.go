package scope_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestRun_ReleasesOnEveryWayOut(t *testing.T) {
	errOwn := errors.New("own")
	for _, test := range []struct {
		name string
		f    func(cancel func()) error
		want error
	}{
		{"return", func(func()) error { return nil }, nil},
		{"error", func(func()) error { return errOwn }, errOwn},
		{"panic", func(func()) error { panic(errOwn) }, errOwn},
		{"goexit", func(func()) error { runtime.Goexit(); return nil }, nil},
		{"canceled", func(cancel func()) error { cancel(); return context.Canceled }, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() { // ends with the Run in it
					var err error
					defer func() {
						if r := recover(); r != nil {
							err = r.(error)
						}
						done <- err
					}()
					err = s.Run(ctx, blob, func(ctx context.Context, h *scope.Held) error {
						if got := w.leaseState(); got != store.LeaseLeased {
							t.Errorf("state inside = %v, want leased", got)
						}
						return test.f(cancel)
					}, nil)
				}()
				if err := <-done; !errors.Is(err, test.want) {
					t.Errorf("Run() = %v, want %v", err, test.want)
				}
				if got := w.leaseState(); got != store.LeaseAvailable {
					t.Errorf("state afterwards = %v, want available", got)
				}
			})
		})
	}
}

func TestRun_ReadsAndWrites(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			if _, err := h.Get(ctx); err != nil {
				return err
			}
			for _, body := range []string{"one", "two"} {
				if err := h.Put(ctx, []byte(body), map[string]string{"n": body}); err != nil {
					return err
				}
			}
			object, err := h.Get(ctx)
			if err != nil {
				return err
			}
			if string(object.Body) != "two" || object.Metadata["n"] != "two" || h.ETag() != object.ETag {
				t.Errorf("Get() = %q %v, want two", object.Body, object.Metadata)
			}
			if h.ID() == "" || h.Polls() != 1 || h.Waited() != 0 {
				t.Errorf("ID, Polls, Waited = %q, %d, %v", h.ID(), h.Polls(), h.Waited())
			}
			return nil
		}, nil)
		if err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
}

// Every write must name the lease and the ETag, or it is no fence.
func TestRun_WritesNameLeaseAndETag(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.onCall(func(c storetest.Call) (bool, error) {
			if (c.Op == "put" || c.Op == "delete") && (c.LeaseID == "" || c.Conditions.IfMatch == "") {
				t.Errorf("%s with lease %q and If-Match %q", c.Op, c.LeaseID, c.Conditions.IfMatch)
			}
			return true, nil
		})
		s := w.newScope(nil)
		edit(t, s, add("a"))
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			return errors.Join(h.Put(ctx, nil, nil), h.Delete(ctx))
		}, nil)
		if err != nil {
			t.Error(err)
		}
	})
}

func TestRun_LostLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			w.breakLease()
			<-ctx.Done()
			wantErr(t, "cause", context.Cause(ctx), scope.ErrLeaseLost)
			wantErr(t, "Put() after the loss", h.Put(context.WithoutCancel(ctx), []byte("late"), nil), scope.ErrLeaseLost)
			_, err := h.Get(context.WithoutCancel(ctx))
			wantErr(t, "Get() after the loss", err, scope.ErrLeaseLost)
			return nil
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost)
		if got := w.get().Body; len(got) != 0 {
			t.Errorf("content = %q, want nothing written", got)
		}
	})
}

// A lease that passed on while its holder noticed nothing: the store refuses.
func TestRun_PassedOnUnnoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			w.breakLease()
			thief := hold(t, s, nil)
			defer thief.Release(ctx)
			return h.Put(ctx, []byte("mine"), nil)
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost, store.ErrLeaseMismatch)
		if got := w.get().Body; len(got) != 0 {
			t.Errorf("content = %q, want nothing written", got)
		}
	})
}

func TestRun_ErrorOfTheFunctionStaysWithTheLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		errOwn := errors.New("own")
		err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			w.breakLease()
			<-ctx.Done()
			return errOwn
		}, nil)
		wantErr(t, "Run()", err, errOwn, scope.ErrLeaseLost)
	})
}

// What was written stays written, whatever the release says.
func TestRun_ReleaseFailureIsNoError(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		w.failNext("release", 99, false, errReset)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			return h.Put(ctx, []byte("x"), nil)
		}, nil)
		if err != nil {
			t.Errorf("Run() = %v, want no error", err)
		}
	})
}

func TestRun_OneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		var wg sync.WaitGroup
		inside, runs := 0, 0
		for range 20 {
			wg.Go(func() {
				err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					// Without a mutex: the lease is the lock, and the race detector sees to it.
					inside++
					if inside != 1 {
						t.Error("two inside")
					}
					time.Sleep(time.Millisecond)
					inside--
					runs++
					return nil
				}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if runs != 20 {
			t.Errorf("%d runs, want 20", runs)
		}
	})
}

func TestRun_LongerThanTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			time.Sleep(45 * time.Second)
			return h.Put(ctx, []byte("done"), nil)
		}, nil)
		if err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
}

func TestHeld_WriteOutcomes(t *testing.T) {
	for _, op := range []string{"put", "delete"} {
		for _, test := range []struct {
			name     string
			failures int
			apply    bool
			err      error
			want     error
		}{
			{"answer lost", 1, true, errReset, nil},
			{"answers lost", 3, true, errReset, nil},
			{"request lost", 1, false, errReset, nil},
			{"throttled", 3, false, store.ErrThrottled, nil},
			{"no right", 1, false, store.ErrUnauthorized, store.ErrUnauthorized},
			{"bypassed", 1, false, store.ErrConditionNotMet, store.ErrConditionNotMet},
			{"busy for ever", 1 << 30, false, store.ErrThrottled, store.ErrThrottled},
			{"never answered", 1 << 30, false, errReset, scope.ErrOutcomeUnknown},
		} {
			t.Run(op+" "+test.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, w *world) {
					w.failNext(op, test.failures, test.apply, test.err)
					err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
						if op == "delete" {
							return h.Delete(ctx)
						}
						return errors.Join(h.Put(ctx, []byte("one"), nil), h.Put(ctx, []byte("two"), nil))
					}, nil)
					if test.want != nil {
						wantErr(t, "Run()", err, test.want)
						return
					}
					if err != nil {
						t.Fatalf("Run() = %v", err)
					}
					object, err := w.in.Get(t.Context(), blob, nil)
					if op == "delete" {
						wantErr(t, "reading what was deleted", err, store.ErrNotFound)
					} else if string(object.Body) != "two" {
						t.Errorf("content = %q, want two", object.Body)
					}
				})
			})
		}
	}
}

// A Put that was not answered and whose lease was taken away cannot be settled:
// what is there may be another's.
func TestHeld_UnansweredAndLost(t *testing.T) {
	for _, test := range []struct {
		name   string
		apply  bool
		theirs string
	}{
		{"broken", true, ""},
		{"broken, and another has written", false, "theirs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				w.once("put", func() (bool, error) {
					w.breakLease()
					if test.theirs != "" {
						w.put([]byte(test.theirs))
					}
					return test.apply, errReset
				})
				err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
					return h.Put(ctx, []byte("x"), nil)
				}, nil)
				wantErr(t, "Run()", err, scope.ErrOutcomeUnknown)
			})
		})
	}
}

func TestRun_WaitOption(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		hold(t, s, nil)
		never := func(context.Context, *scope.Held) error {
			t.Error("entered without the lease")
			return nil
		}
		err := s.Run(t.Context(), blob, never, &scope.RunOptions{Wait: time.Second})
		wantErr(t, "Run()", err, store.ErrLeaseHeld)
	})
}

func TestRun_ProposedID(t *testing.T) {
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	inBubble(t, func(t *testing.T, w *world) {
		err := w.newScope(nil).Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			if h.ID() != id {
				t.Errorf("ID() = %q, want %q", h.ID(), id)
			}
			return nil
		}, &scope.RunOptions{ID: id})
		if err != nil {
			t.Error(err)
		}
	})
}
