package scope_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
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

func TestEdit_TellsWhatItDid(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		r := edit(t, s, add("Start"))
		if want := []scope.EventRef{{ID: "00", Topic: "Start"}}; !slices.Equal(r.Created, want) || !r.Changed || r.Ended {
			t.Errorf("first Result = %+v, want %v created", r, want)
		}
		r = edit(t, s, add("Next"))
		if want := []scope.EventRef{{ID: "01", Topic: "Next"}}; !slices.Equal(r.Created, want) || r.ETag != w.get().ETag {
			t.Errorf("second Result = %+v, want %v created and ETag %s", r, want, w.get().ETag)
		}
		r = edit(t, s, func(s *eventstream.Stream) error { return s.Update(s.Last(), "status", "completed") })
		if !r.Ended || !r.Changed || len(r.Created) != 0 {
			t.Errorf("last Result = %+v, want the run ended", r)
		}
		stream, err := r.Stream()
		if err != nil || !stream.IsDone() || string(stream.Bytes()) != string(w.get().Body) {
			t.Errorf("Stream() = %v, %v; want the stream as committed", stream, err)
		}
		if again, _ := r.Stream(); again != stream {
			t.Error("Stream() parses again at each call")
		}
	})
}

// The stream of a result stays as it was committed, although edits go on.
func TestEdit_ResultStreamStandsStill(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		first := edit(t, s, add("a"))
		edit(t, s, add("b"))
		stream, err := first.Stream()
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(stream); !slices.Equal(got, []string{"a"}) {
			t.Errorf("events in the first result = %q, want a alone", got)
		}
	})
}

func TestEdit_RequestsPerEdit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		for range 10 {
			edit(t, s, add("x"))
			time.Sleep(time.Second) // beyond Linger: each edit has a lease of its own
		}
		want := map[string]int{"acquire": 10, "get": 1, "put": 10, "release": 10}
		for op, n := range want {
			if got := w.count(op); got != n {
				t.Errorf("%d × %s for ten edits, want %d", got, op, n)
			}
		}
		if got := w.st.Total(); got != 31 {
			t.Errorf("%d requests in all, want 31: %v", got, w.st.Counts())
		}
	})
}

func TestEdit_LingersForTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		for range 10 {
			edit(t, s, add("x"))
		}
		time.Sleep(time.Second)
		if got := w.count("acquire"); got != 1 {
			t.Errorf("%d leases for ten edits in a row, want 1", got)
		}
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state afterwards = %v, want available", got)
		}
	})
}

func TestEdit_ReadsAgainWhatAnotherWrote(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, other := w.newScope(nil), w.newScope(nil)
		for i := range 3 {
			edit(t, s, add(fmt.Sprint("a", i)))
			edit(t, other, add(fmt.Sprint("b", i)))
		}
		w.wantNames("a0", "b0", "a1", "b1", "a2", "b2")
	})
}

// An edit that changes nothing must have seen what is there, not what was.
func TestEdit_NothingToDoIsSeenFresh(t *testing.T) {
	for _, strategy := range []scope.Strategy{scope.Leased, scope.Optimistic} {
		inBubble(t, func(t *testing.T, w *world) {
			o := &scope.Options{Strategy: strategy}
			s, other := w.newScope(o), w.newScope(o)
			edit(t, s, add("a"))
			edit(t, other, add("b"))
			var saw []string
			edit(t, s, func(s *eventstream.Stream) error { saw = namesOf(s); return nil })
			if !slices.Equal(saw, []string{"a", "b"}) {
				t.Errorf("strategy %d: the edit saw %q, want a and b", strategy, saw)
			}
			if got := s.Stats().Reruns; got != 0 {
				t.Errorf("strategy %d: %d reruns, want none", strategy, got)
			}
		})
	}
}

func TestEdit_WarmStreamsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(&scope.Options{Warm: 2})
		for round := range 2 {
			for i := range 3 {
				name := fmt.Sprintf("streams/%d.xml", i)
				if round == 0 {
					if _, err := w.in.Put(t.Context(), name, nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := s.Edit(t.Context(), name, add("x")); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
		}
		if got := w.count("get"); got != 6 {
			t.Errorf("%d reads, want 6: a third stream pushes the first one out", got)
		}
	})
}

func TestEdit_NoChangeNoPut(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		before := w.get().ETag
		r := edit(t, s, nothing)
		if r.Changed || r.ETag != before || w.count("put") != 0 {
			t.Errorf("Result = %+v with %d puts, want no change and no put", r, w.count("put"))
		}
		if stream, err := r.Stream(); err != nil || stream.Len() != 0 {
			t.Errorf("Stream() = %v, %v; want an empty stream", stream, err)
		}
		if got := w.get().Body; len(got) != 0 {
			t.Errorf("content = %q, want 0 bytes still", got)
		}
	})
}

func TestEdit_RootAttributeAloneIsAChange(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		edit(t, s, add("a"))
		set := func(value string) func(*eventstream.Stream) error {
			return func(s *eventstream.Stream) error { return s.SetAttrs("deadline", value) }
		}
		edit(t, s, set("2030-01-01T00:00:00.000Z"))
		edit(t, s, set("2031-01-01T00:00:00.000Z"))
		if got := string(w.get().Body); !strings.Contains(got, `deadline="2031-`) {
			t.Errorf("content = %s, want the new deadline", got)
		}
	})
}

func TestEdit_Refusals(t *testing.T) {
	for _, test := range []struct {
		name    string
		content string
		blob    string
		want    error
	}{
		{"missing blob", "", "streams/none.xml", store.ErrNotFound},
		{"no document", "this is no XML", blob, eventstream.ErrMalformed},
		{"white space alone", " \n", blob, eventstream.ErrMalformed},
		{"another document", "<html/>", blob, eventstream.ErrMalformed},
		{"container", "", "", store.ErrInvalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				w.put([]byte(test.content))
				_, err := s.Edit(t.Context(), test.blob, add("x"))
				wantErr(t, "Edit()", err, test.want)
				if err == nil || !strings.Contains(err.Error(), test.blob) {
					t.Errorf("Edit() = %v, want the blob named", err)
				}
				if got := string(w.get().Body); got != test.content {
					t.Errorf("content = %q, want %q untouched", got, test.content)
				}
				time.Sleep(time.Second)
				if got := w.leaseState(); got != store.LeaseAvailable {
					t.Errorf("state = %v, want available", got)
				}
				if test.blob != "" {
					_, err = s.Read(t.Context(), test.blob)
					wantErr(t, "Read()", err, test.want)
				}
			})
		})
	}
}

// What the store cannot give back whole is no document, at once, and stays as it is.
func TestEdit_DamagedBody(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		w.put([]byte("<EventStream/>"))
		before := w.get().ETag
		w.failNext("get", 2, false, &store.Error{Op: "get", Name: blob, Sentinel: store.ErrDamaged})
		began := time.Now()
		_, err := s.Edit(t.Context(), blob, add("x"))
		wantErr(t, "Edit()", err, store.ErrDamaged, eventstream.ErrMalformed)
		_, err = s.Read(t.Context(), blob)
		wantErr(t, "Read()", err, store.ErrDamaged, eventstream.ErrMalformed)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the damage was told after %v, want at once", took)
		}
		if got := w.get().ETag; got != before {
			t.Errorf("a blob that could not be read was written over")
		}
	})
}

// While an upload is under way, those that come share the next one, in the order
// in which they came.
func TestEdit_GroupCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		w.once("put", func() (bool, error) { time.Sleep(time.Second); return true, nil })
		var wg sync.WaitGroup
		var want []string
		for i := range 50 {
			name := fmt.Sprintf("e%02d", i)
			want = append(want, name)
			wg.Go(func() {
				r := edit(t, s, add(name))
				if batch := min(i, 1)*48 + 1; r.Batch != batch {
					t.Errorf("edit %d: Batch = %d, want %d", i, r.Batch, batch)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		w.wantNames(want...)
		if puts, leases := w.count("put"), w.count("acquire"); puts != 2 || leases > 2 {
			t.Errorf("%d uploads under %d leases for 50 edits, want 2", puts, leases)
		}
		if got := s.Stats(); got.Edits != 50 || got.Commits != 2 || got.LongestWait.Truncate(100*time.Millisecond) != time.Second {
			t.Errorf("Stats() = %+v, want 50 edits and 2 commits, and a longest wait of one upload", got)
		}
	})
}

// Every upload names the lease and what it replaces. Without the first, the store would
// refuse it for good, and nobody would know why the edit takes so long.
func TestEdit_UploadsUnderItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		replaced := w.get().ETag
		w.onCall(func(c storetest.Call) (bool, error) {
			w.mu.Lock()
			lease := w.lease
			w.mu.Unlock()
			if c.Op == "put" && (c.LeaseID == "" || c.LeaseID != lease || c.Conditions.IfMatch != replaced) {
				t.Errorf("an upload under lease %q over ETag %q, want %q and %q", c.LeaseID, c.Conditions.IfMatch, lease, replaced)
			}
			return true, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			r, err := s.Edit(ctx, blob, touch)
			if err != nil {
				t.Fatalf("Edit() = %v", err)
			}
			replaced = r.ETag
		}
		if n := w.count("put"); n != 3 {
			t.Errorf("%d uploads for 3 edits, want 3", n)
		}
	})
}

// Those that come while others of a batch run share its upload; so do those that
// come a moment later, if as many shared the one before.
func TestEdit_ComesWhileOthersRun(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		var wg sync.WaitGroup
		for round := range 2 {
			running, goOn := make(chan struct{}), make(chan struct{})
			share := func(f func(*eventstream.Stream) error) {
				wg.Go(func() {
					if r := edit(t, s, f); r.Batch != 3 {
						t.Errorf("round %d: Batch = %d, want 3", round, r.Batch)
					}
				})
			}
			share(func(s *eventstream.Stream) error {
				close(running)
				<-goOn
				return touch(s)
			})
			<-running
			if round == 0 {
				share(touch)
				share(touch)
			} else {
				share(func(s *eventstream.Stream) error {
					share(touch) // it comes when this one, the last that has come, has begun
					return touch(s)
				})
			}
			synctest.Wait()
			close(goOn)
			wg.Wait()
		}
		if puts := w.count("put"); puts != 2 {
			t.Errorf("%d uploads for 6 edits, want 2", puts)
		}
	})
}

// A caller that leaves after its edit has run takes nobody's place: those that came
// into its batch later are run all the same.
func TestEdit_LeftWhileOthersRun(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		var wg sync.WaitGroup
		blocked := func(name string) (running, goOn chan struct{}, f func(*eventstream.Stream) error) {
			running, goOn = make(chan struct{}), make(chan struct{})
			return running, goOn, func(s *eventstream.Stream) error {
				close(running)
				<-goOn
				return add(name)(s)
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		first, firstGoesOn, f := blocked("first")
		wg.Go(func() {
			if _, err := s.Edit(ctx, blob, f); !errors.Is(err, scope.ErrOutcomeUnknown) {
				t.Errorf("Edit() of the one that left = %v, want ErrOutcomeUnknown", err)
			}
		})
		<-first
		second, secondGoesOn, f := blocked("second")
		wg.Go(func() { edit(t, s, f) })
		synctest.Wait()
		wg.Go(func() { edit(t, s, add("third")) })
		synctest.Wait()
		close(firstGoesOn)
		<-second
		leave()
		time.Sleep(3 * time.Second)
		close(secondGoesOn)
		wg.Wait()
		w.wantNames("first", "second", "third")
	})
}

// batchOf runs edits so that they share one upload, and returns their errors.
func batchOf(t *testing.T, w *world, s *scope.Scope, edits ...func(*eventstream.Stream) error) []error {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(edits))
	blocker, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range edits {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = r.(error)
				}
			}()
			_, errs[i] = s.Edit(t.Context(), blob, f)
		})
		time.Sleep(time.Microsecond) // in this order
	}
	if _, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseRelease, ID: blocker.ID}); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return errs
}

func TestEdit_EachIsRolledBackAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		errOwn, errPanic := errors.New("own"), errors.New("panic")
		errs := batchOf(t, w, s,
			add("a"),
			func(s *eventstream.Stream) error { return errors.Join(add("wrong")(s), errOwn) },
			add("b"),
			func(s *eventstream.Stream) error { _ = add("wrong")(s); panic(errPanic) },
			add("c"),
		)
		if want := []error{nil, errOwn, nil, errPanic, nil}; !slices.EqualFunc(errs, want, errors.Is) {
			t.Errorf("outcomes = %v, want %v", errs, want)
		}
		w.wantNames("a", "b", "c")
		if got := w.count("put"); got != 1 {
			t.Errorf("%d uploads, want 1", got)
		}
	})
}

// What an edit saw may have been another's that was not yet durable: it is told
// its own refusal only when that is.
func TestEdit_RefusalWaitsForWhatItSaw(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		errTaken := errors.New("taken")
		claim := func(s *eventstream.Stream) error {
			if s.Len() > 0 {
				return errTaken
			}
			return add("claimed")(s)
		}
		w.once("put", func() (bool, error) { time.Sleep(time.Second); return true, nil })
		began := time.Now()
		errs := batchOf(t, w, s, claim, claim)
		if errs[0] != nil || !errors.Is(errs[1], errTaken) || time.Since(began) < time.Second {
			t.Errorf("outcomes = %v after %v, want nil and taken after the upload", errs, time.Since(began))
		}
	})
}

func TestEdit_GoexitEndsItsCallerAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		var early atomic.Bool
		var wg sync.WaitGroup
		w.once("acquire", func() (bool, error) { time.Sleep(time.Millisecond); return true, nil })
		for _, f := range []func(*eventstream.Stream) error{
			add("a"),
			func(s *eventstream.Stream) error { _ = add("wrong")(s); runtime.Goexit(); return nil },
			add("b"),
		} {
			wg.Go(func() {
				_, err := s.Edit(t.Context(), blob, f)
				if err != nil {
					t.Error(err)
				}
				if w.count("put") == 0 {
					early.Store(true)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if early.Load() {
			t.Error("an edit returned before anything was written")
		}
		w.wantNames("a", "b")
		edit(t, s, add("c"))
		w.wantNames("a", "b", "c")
	})
}

func TestEdit_CanceledWhileItWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		l := hold(t, s, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Edit(ctx, blob, add("never"))
		wantErr(t, "Edit()", err, context.DeadlineExceeded, store.ErrLeaseHeld)
		if errors.Is(err, scope.ErrOutcomeUnknown) {
			t.Errorf("Edit() = %v, want it known that nothing was applied", err)
		}
		synctest.Wait()
		before := w.st.Total()
		time.Sleep(4 * time.Second)
		if got := w.st.Total() - before; got > 2 {
			t.Errorf("%d requests after the last one who waited has left, want renewals only", got)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		edit(t, s, add("a"))
		w.wantNames("a")
	})
}

// One that leaves takes nobody with it.
func TestEdit_CanceledAmongOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		l := hold(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i, c := range []context.Context{t.Context(), ctx, t.Context()} {
			wg.Go(func() {
				_, err := s.Edit(c, blob, add(fmt.Sprint("e", i)))
				if (err != nil) != (i == 1) {
					t.Errorf("edit %d = %v", i, err)
				}
			})
			time.Sleep(time.Microsecond)
		}
		cancel()
		synctest.Wait()
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		w.wantNames("e0", "e2")
	})
}

func TestEdit_CanceledDuringTheUpload(t *testing.T) {
	for _, test := range []struct {
		name   string
		upload time.Duration
		want   error
	}{
		{"outcome near", 900 * time.Millisecond, nil},
		{"outcome far", 5 * time.Second, scope.ErrOutcomeUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				ctx, cancel := context.WithCancel(t.Context())
				w.once("put", func() (bool, error) { cancel(); time.Sleep(test.upload); return true, nil })
				_, err := s.Edit(ctx, blob, add("a"))
				if !errors.Is(err, test.want) {
					t.Errorf("Edit() = %v, want %v", err, test.want)
				}
				time.Sleep(10 * time.Second)
				w.wantNames("a")
			})
		})
	}
}

// When Edit has returned, its function does not run any more, even if the batch it
// was in is run again.
func TestEdit_NeverRunsAfterItsCallerLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		ctx, cancel := context.WithCancel(t.Context())
		gone := false
		w.once("put", func() (bool, error) {
			cancel()
			time.Sleep(5 * time.Second)
			w.breakLease()
			w.put([]byte("<EventStream/>")) // another has written: the batch would run again
			return false, errReset
		})
		_, err := s.Edit(ctx, blob, func(s *eventstream.Stream) error {
			if gone {
				t.Error("run after Edit has returned")
			}
			return add("a")(s)
		})
		gone = true
		wantErr(t, "Edit()", err, scope.ErrOutcomeUnknown)
		time.Sleep(time.Minute)
	})
}

// Nor does Edit return while its function runs, however long that takes.
func TestEdit_NeverReturnsWhileItRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.Edit(ctx, blob, func(s *eventstream.Stream) error {
			time.Sleep(8 * time.Second)
			return add("slow")(s)
		})
		if got := time.Since(began); got < 8*time.Second || err != nil && !errors.Is(err, scope.ErrOutcomeUnknown) {
			t.Errorf("Edit() = %v after %v, want it to wait for its function", err, got)
		}
	})
}

func TestEdit_CanceledBeforeItRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		ctx, cancel := context.WithCancel(t.Context())
		w.once("get", func() (bool, error) { cancel(); return true, nil })
		_, err := s.Edit(ctx, blob, add("never"))
		wantErr(t, "Edit()", err, context.Canceled)
		if errors.Is(err, scope.ErrOutcomeUnknown) || w.count("put") != 0 {
			t.Errorf("Edit() = %v with %d puts, want it known that nothing was applied", err, w.count("put"))
		}
	})
}

func TestEdit_CloseTellsThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(nil)
		s, other := scope.New(w.st, nil), w.newScope(nil)
		hold(t, other, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.Edit(t.Context(), blob, add("never"))
			wantErr(t, "Edit()", err, scope.ErrClosed)
		})
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

func TestEdit_CloseFinishesWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(nil)
		s := scope.New(w.st, nil)
		w.once("put", func() (bool, error) { time.Sleep(time.Second); return true, nil })
		var wg sync.WaitGroup
		wg.Go(func() { edit(t, s, add("a")) })
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		w.wantNames("a")
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
	})
}

func TestEdit_SlowFunctionKeepsItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		runs := 0
		edit(t, s, func(s *eventstream.Stream) error {
			runs++
			time.Sleep(45 * time.Second)
			return add("slow")(s)
		})
		w.wantNames("slow")
		if runs != 1 {
			t.Errorf("run %d times, want once", runs)
		}
	})
}

// Someone else got the lease while the edit ran: it runs again on what is there now.
func TestEdit_LeaseLostBeforeTheUpload(t *testing.T) {
	for _, noticed := range []bool{true, false} {
		t.Run(fmt.Sprint("noticed ", noticed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s, other := w.newScope(nil), newScope(t, w.in, nil)
				runs, began := 0, time.Now()
				edit(t, s, func(s *eventstream.Stream) error {
					if runs++; runs == 1 {
						w.breakLease()
						if _, err := other.Edit(t.Context(), blob, add("theirs")); err != nil {
							t.Error(err)
						}
						if noticed {
							time.Sleep(6 * time.Second)
						}
					}
					return add("ours")(s)
				})
				w.wantNames("theirs", "ours")
				if runs != 2 {
					t.Errorf("run %d times, want twice", runs)
				}
				if got := time.Since(began); !noticed && got > time.Second {
					t.Errorf("done after %v, want another lease as soon as the store refuses", got)
				}
			})
		})
	}
}

// A process that was stopped past its lease writes nothing with what it had.
func TestEdit_StoppedPastTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, other := w.newScope(nil), newScope(t, w.in, nil)
		var stopped atomic.Bool
		stopped.Store(true)
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.Op == "renew" && stopped.Load() {
				time.Sleep(time.Minute)
				return false, errReset
			}
			return true, nil
		})
		first := true
		edit(t, s, func(s *eventstream.Stream) error {
			if first {
				first = false
				time.Sleep(20 * time.Second)
				if _, err := other.Edit(t.Context(), blob, add("theirs")); err != nil {
					t.Error(err)
				}
				stopped.Store(false)
			}
			return add("ours")(s)
		})
		w.wantNames("theirs", "ours")
		if got := w.count("put"); got != 1 {
			t.Errorf("%d puts, want 1: none with the lost lease", got)
		}
	})
}

// The document that was read while the lease passed on is never shown to an edit.
func TestEdit_LeaseLostDuringTheDownload(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, other := w.newScope(nil), newScope(t, w.in, nil)
		w.once("get", func() (bool, error) {
			w.breakLease()
			_, err := other.Edit(t.Context(), blob, add("theirs"))
			return true, err
		})
		began := time.Now()
		edit(t, s, func(s *eventstream.Stream) error {
			if got := namesOf(s); !slices.Equal(got, []string{"theirs"}) {
				t.Errorf("the edit sees %q, want theirs", got)
			}
			return add("ours")(s)
		})
		w.wantNames("theirs", "ours")
		if got := time.Since(began); got > time.Second {
			t.Errorf("done after %v, want another lease as soon as the store refuses", got)
		}
	})
}

// Someone who writes past a held lease costs a second run, and is counted.
func TestEdit_Bypassed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		first := true
		edit(t, s, func(s *eventstream.Stream) error {
			if first {
				first = false
				w.writePast([]byte(`<EventStream><Event id="00" name="foreign" status="init"/></EventStream>`), nil)
			}
			return add("ours")(s)
		})
		w.wantNames("foreign", "ours")
		if got := s.Stats().Bypassed; got != 1 {
			t.Errorf("Bypassed = %d, want 1", got)
		}
	})
}

func TestEdit_DeletedUnderUs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		edit(t, s, add("a"))
		_, err := s.Edit(t.Context(), blob, func(s *eventstream.Stream) error {
			w.breakLease()
			if err := w.in.Delete(t.Context(), blob, nil); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
			return add("b")(s)
		})
		wantErr(t, "Edit()", err, store.ErrNotFound)
		_, err = w.in.Stat(t.Context(), blob, nil)
		wantErr(t, "the deleted blob", err, store.ErrNotFound)
	})
}

// An edit that makes the document too large fails alone; what was committed before
// and beside it stays.
func TestEdit_TooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.in = memstore.New(&memstore.Options{MaxBody: 4000})
		w.st = storetest.NewFaults(w.in, w.decide)
		if err := w.in.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.put(nil)
		s := w.newScope(nil)
		huge := func(s *eventstream.Stream) error {
			return errors.Join(add("huge")(s), s.Update(s.Last(), "tag", strings.Repeat("x", 5000)))
		}
		errs := batchOf(t, w, s, add("a"), huge, add("b"), huge, add("c"))
		if want := []error{nil, store.ErrTooLarge, nil, store.ErrTooLarge, nil}; !slices.EqualFunc(errs, want, errors.Is) {
			t.Errorf("outcomes = %v, want %v", errs, want)
		}
		w.wantNames("a", "b", "c")
		if _, err := s.Edit(t.Context(), blob, huge); !errors.Is(err, store.ErrTooLarge) || !strings.Contains(err.Error(), blob) {
			t.Errorf("Edit() = %v, want too large, with the blob", err)
		}
	})
}

// Two processes that edit one stream without a break both get their turn.
func TestEdit_FairBetweenProcesses(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.Op == "put" {
				time.Sleep(300 * time.Microsecond)
			}
			return true, nil
		})
		end := time.Now().Add(2 * time.Second)
		var mu sync.Mutex
		counts := make([]int, 4)
		var longest time.Duration
		var wg sync.WaitGroup
		for p := range counts {
			s := w.newScope(nil)
			for range 8 {
				wg.Go(func() {
					for time.Now().Before(end) {
						began := time.Now()
						edit(t, s, touch)
						mu.Lock()
						counts[p]++
						longest = max(longest, time.Since(began))
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		t.Logf("edits per process %v, longest wait %v", counts, longest)
		if slices.Min(counts)*8 < slices.Max(counts) || longest > time.Second {
			t.Errorf("edits per process %v, longest wait %v: someone starves", counts, longest)
		}
	})
}

// touch changes the document without making it grow.
func touch(s *eventstream.Stream) error {
	if s.Root() == nil {
		return add("root")(s)
	}
	tag := "x"
	if s.Root().Attr("tag") == tag {
		tag = "y"
	}
	return s.Update(s.Root(), "tag", tag)
}

// Whoever is busy gives the lease up after MaxHold, or later if nobody takes it.
func TestEdit_MaxHold(t *testing.T) {
	const maxHold = 20 * time.Millisecond
	for _, test := range []struct {
		name   string
		others bool
		read   time.Duration // takes the document; negative: once
		want   time.Duration
	}{
		{"nobody takes it", false, 0, 5 * maxHold},
		{"another writes in between", true, 0, maxHold},
		{"little to read", true, maxHold / 4, maxHold},
		{"much to read", true, maxHold / 2, 2 * maxHold},
		{"very much to read", true, 3 * maxHold, 5 * maxHold},
		{"one read that takes long", true, -3 * maxHold, maxHold},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				longest := w.longestHold(test.others, test.read)
				s := w.newScope(&scope.Options{MaxHold: maxHold})
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() {
						for range 400 {
							edit(t, s, touch)
						}
					})
				}
				wg.Wait()
				if got := longest(); got < test.want || got > test.want+3*time.Millisecond {
					t.Errorf("lease held for up to %v, want %v and one upload", got, test.want)
				}
			})
		})
	}
}

// longestHold lets each upload take a millisecond, and tells how long it was at most
// from the first one under a lease to its release. Before each acquire others may
// write; to read that takes a while.
func (w *world) longestHold(others bool, read time.Duration) func() time.Duration {
	var mu sync.Mutex
	var longest time.Duration
	first := map[string]time.Time{} // upload, by lease ID
	w.onCall(func(c storetest.Call) (bool, error) {
		now := time.Now()
		switch {
		case c.Op == "put":
			time.Sleep(time.Millisecond)
		case c.Op == "get":
			time.Sleep(read.Abs())
			read = max(read, 0)
		case c.Op == "acquire" && others:
			before := w.get()
			w.putMeta(before.Body, before.Metadata)
		}
		mu.Lock()
		defer mu.Unlock()
		switch began, ok := first[c.LeaseID]; {
		case c.Op == "put" && !ok:
			first[c.LeaseID] = now
		case c.Op == "release" && ok:
			longest = max(longest, now.Sub(began))
		}
		return true, nil
	})
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return longest
	}
}

func TestRead_NeverBlocks(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		edit(t, s, add("a"))
		hold(t, s, &scope.HoldOptions{Wait: time.Second})
		began := time.Now()
		snapshot, err := s.Read(t.Context(), blob)
		if err != nil || time.Since(began) != 0 {
			t.Fatalf("Read() = %v after %v, want it at once", err, time.Since(began))
		}
		if got := namesOf(snapshot.Stream); !slices.Equal(got, []string{"a"}) || snapshot.ETag != w.get().ETag || snapshot.Info.Metadata["status"] == "" {
			t.Errorf("Read() = %q %q %v", got, snapshot.ETag, snapshot.Info.Metadata)
		}
	})
}

func TestRead_SurvivesTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		w.failNext("get", 3, false, errReset)
		if _, err := s.Read(t.Context(), blob); err != nil {
			t.Errorf("Read() = %v", err)
		}
		w.failNext("get", 1<<30, false, errReset)
		_, err := s.Read(t.Context(), blob)
		wantErr(t, "Read() without a store", err, errReset)
	})
}

// The last caller that waits leaves while an upload is under way: the line then
// has a batch in which nobody is.
func TestEdit_AllWhoWaitLeave(t *testing.T) {
	for _, strategy := range []scope.Strategy{scope.Leased, scope.Optimistic} {
		inBubble(t, func(t *testing.T, w *world) {
			s := w.newScope(&scope.Options{Strategy: strategy})
			w.once("put", func() (bool, error) { time.Sleep(time.Second); return true, nil })
			first := make(chan error, 1)
			go func() {
				_, err := s.Edit(t.Context(), blob, add("first"))
				first <- err
			}()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := s.Edit(ctx, blob, add("second")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Edit() that left = %v, want %v", err, context.DeadlineExceeded)
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
			if n := w.count("acquire"); n > 2 {
				t.Errorf("%d leases were asked for in a minute with nothing to do", n)
			}
			w.wantNames("first")
		})
	}
}
