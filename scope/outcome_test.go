package scope_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// theirs is an edit of another holder, who has got the lease meanwhile.
func (w *world) theirs() {
	w.breakLease()
	other := newScope(w.t, w.in, nil)
	if _, err := other.Edit(context.Background(), blob, add("theirs")); err != nil {
		w.t.Error(err)
	}
}

// meta of the blob, with some replaced; "" removes one.
func (w *world) rewrite(pairs ...string) {
	w.breakLease()
	object := w.get()
	for i := 0; i < len(pairs); i += 2 {
		if object.Metadata[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(object.Metadata, pairs[i])
		}
	}
	w.putMeta(object.Body, object.Metadata)
}

// An upload that was not answered, row by row. The blob has one event, before, in
// it already; the edit adds ours; between the upload and the first look at the
// blob, meanwhile happens.
func TestEdit_UnansweredUpload(t *testing.T) {
	for _, test := range []struct {
		name      string
		apply     bool
		meanwhile func(w *world)
		want      error
		names     []string
		runs      int
	}{
		{
			name: "applied", apply: true,
			names: []string{"before", "ours"}, runs: 1,
		}, {
			name:  "not applied",
			names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "applied, lease ended", apply: true, meanwhile: (*world).breakLease,
			names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "not applied, lease ended: the same bytes under a fresh lease", meanwhile: (*world).breakLease,
			names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "applied, then built upon by another holder", apply: true, meanwhile: (*world).theirs,
			names: []string{"before", "ours", "theirs"}, runs: 1,
		}, {
			name: "not applied, and another has written", meanwhile: (*world).theirs,
			names: []string{"before", "theirs", "ours"}, runs: 2,
		}, {
			name: "applied, then our entry dropped", apply: true,
			meanwhile: func(w *world) { w.rewrite("commits", "other:1:946684800") },
			want:      scope.ErrOutcomeUnknown, names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "applied, then the metadata gone", apply: true,
			meanwhile: func(w *world) { w.rewrite("commits", "") },
			want:      scope.ErrOutcomeUnknown, names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "applied, then another run in its place", apply: true,
			meanwhile: func(w *world) { w.rewrite("run", "another") },
			want:      scope.ErrOutcomeUnknown, names: []string{"before", "ours"}, runs: 1,
		}, {
			name: "applied, then the blob gone", apply: true,
			meanwhile: func(w *world) {
				w.breakLease()
				if err := w.in.Delete(context.Background(), blob, nil); err != nil {
					w.t.Error(err)
				}
			},
			want: scope.ErrOutcomeUnknown, runs: 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				edit(t, s, add("before"))
				sent, looked := false, test.meanwhile == nil
				w.onCall(func(c storetest.Call) (bool, error) {
					switch {
					case c.Op == "put" && !sent:
						sent = true
						return test.apply, errReset
					case c.Op == "stat" && !looked:
						looked = true
						test.meanwhile(w)
					}
					return true, nil
				})
				runs := 0
				_, err := s.Edit(t.Context(), blob, func(s *eventstream.Stream) error {
					runs++
					return add("ours")(s)
				})
				if !errors.Is(err, test.want) {
					t.Errorf("Edit() = %v, want %v", err, test.want)
				}
				if runs != test.runs {
					t.Errorf("run %d times, want %d", runs, test.runs)
				}
				if test.names == nil {
					return
				}
				w.wantNames(test.names...)
				w.onCall(nil)
				edit(t, s, add("after"))
				w.wantNames(append(test.names, "after")...)
			})
		})
	}
}

// A Put that arrives after all, when we have sent it again: one of the two is
// refused, and the edit is there once.
func TestEdit_DelayedUpload(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		late := &latePut{Store: w.st}
		s := newScope(t, late, nil)
		runs := 0
		edit(t, s, func(s *eventstream.Stream) error { runs++; return add("ours")(s) })
		w.wantNames("ours")
		if runs != 1 || late.puts != 2 {
			t.Errorf("run %d times with %d puts, want once with 2", runs, late.puts)
		}
		edit(t, s, add("next"))
		w.wantNames("ours", "next")
	})
}

// latePut does not answer the first Put, and carries it out just before the second.
type latePut struct {
	store.Store
	puts  int
	first func()
}

func (l *latePut) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if l.puts++; l.puts == 1 {
		kept := slices.Clone(body)
		l.first = func() { l.Store.Put(context.Background(), name, kept, o) }
		return nil, errReset
	}
	l.first()
	return l.Store.Put(ctx, name, body, o)
}

// Whoever gives up says whether something may have happened.
func TestEdit_StoreStaysAway(t *testing.T) {
	for _, test := range []struct {
		name    string
		fail    string // operations that fail from the first Put on
		apply   bool
		err     error
		want    error
		unknown bool
	}{
		{"nothing answered", "put stat", false, errReset, errReset, true},
		{"nothing answered, but applied", "put stat", true, errReset, errReset, true},
		{"uploads not answered", "put", false, errReset, errReset, true},
		{"throttled", "put", false, store.ErrThrottled, store.ErrThrottled, false},
		{"locked", "put", false, store.ErrStoreLocked, store.ErrStoreLocked, false},
		{"no right to write", "put", false, store.ErrUnauthorized, store.ErrUnauthorized, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				s := w.newScope(nil)
				w.onCall(func(c storetest.Call) (bool, error) {
					if slices.Contains(strings.Fields(test.fail), c.Op) {
						return test.apply && c.Op == "put", test.err
					}
					return true, nil
				})
				began := time.Now()
				errs := batchOf(t, w, s, add("a"), add("b"), nothing)
				for i, err := range errs {
					wantErr(t, fmt.Sprint("edit ", i), err, test.want)
					if got := errors.Is(err, scope.ErrOutcomeUnknown); got != test.unknown {
						t.Errorf("edit %d = %v, want unknown: %t", i, err, test.unknown)
					}
				}
				if got := time.Since(began); got > 15*time.Second {
					t.Errorf("told after %v, want some 10s", got)
				}
				w.onCall(nil)
				edit(t, s, add("after")) // the stream in memory was thrown away
				if got := w.names(); !slices.Contains(got, "after") {
					t.Errorf("events = %q, want after in it", got)
				}
			})
		})
	}
}

// Throttled, and meanwhile another has written, with our metadata or without: it
// is certain that nothing of ours is there.
func TestEdit_ThrottledAndOvertaken(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		inBubble(t, func(t *testing.T, w *world) {
			s := w.newScope(nil)
			w.once("put", func() (bool, error) {
				w.theirs()
				if foreign {
					w.breakLease()
					w.put(w.get().Body)
				}
				return false, store.ErrThrottled
			})
			edit(t, s, add("ours"))
			w.wantNames("theirs", "ours")
		})
	}
}

// The result of an edit that was found to be committed is that of its own upload.
func TestEdit_ResultOfWhatWasFound(t *testing.T) {
	for _, builtUpon := range []bool{false, true} {
		inBubble(t, func(t *testing.T, w *world) {
			s := w.newScope(nil)
			edit(t, s, add("before"))
			w.once("put", func() (bool, error) { return true, errReset })
			hook := w.hook
			w.onCall(func(c storetest.Call) (bool, error) {
				if c.Op == "stat" && builtUpon {
					w.theirs()
				}
				return hook(c)
			})
			r := edit(t, s, add("ours"))
			stream, err := r.Stream()
			if err != nil || !slices.Equal(namesOf(stream), []string{"before", "ours"}) {
				t.Errorf("Stream() = %q, %v; want what was uploaded", namesOf(stream), err)
			}
			if want := w.get().ETag; builtUpon && r.ETag != "" || !builtUpon && r.ETag != want {
				t.Errorf("built upon: %t: ETag = %q, that of the blob is %q", builtUpon, r.ETag, want)
			}
		})
	}
}

// An upload that was found to have taken effect may have been written over since,
// with our number still there: the next edit reads.
func TestEdit_FoundIsReadAgain(t *testing.T) {
	for _, sameMetadata := range []bool{true, false} {
		inBubble(t, func(t *testing.T, w *world) {
			s := w.newScope(nil)
			edit(t, s, add("before"))
			time.Sleep(time.Second)
			w.once("put", func() (bool, error) { return true, errReset })
			unanswered := w.hook
			w.onCall(func(c storetest.Call) (bool, error) {
				if c.Op == "stat" {
					object := w.get()
					if !sameMetadata {
						object.Metadata["theirs"] = "x"
					}
					w.writePast([]byte(strings.ReplaceAll(string(object.Body), "before", "foreign")), object.Metadata)
				}
				return unanswered(c)
			})
			edit(t, s, add("ours"))
			edit(t, s, add("after"))
			w.wantNames("foreign", "ours", "after")
			if got := w.count("acquire"); got != 2 {
				t.Errorf("%d leases, want the last two edits under one", got)
			}
		})
	}
}

// Many writers, each of which loses an answer now and then and is overtaken: every
// edit is there once.
func TestEdit_ManyWritersWithLostAnswers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.onCall(failEvery(7))
		var want []string
		var wg sync.WaitGroup
		for p := range 5 {
			s := w.newScope(nil)
			for c := range 4 {
				wg.Go(func() {
					for i := range 10 {
						edit(t, s, add(fmt.Sprintf("%d.%d.%d", p, c, i)))
					}
				})
				for i := range 10 {
					want = append(want, fmt.Sprintf("%d.%d.%d", p, c, i))
				}
			}
		}
		wg.Wait()
		got := w.names()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d events in the blob, want the %d that were acknowledged, once each", len(got), len(want))
		}
	})
}

// failEvery makes every nth call fail, applied and not by turns.
func failEvery(n int) storetest.Hook {
	return func(c storetest.Call) (bool, error) {
		if c.N%n == 0 {
			return c.N/n%2 == 0, errReset
		}
		return true, nil
	}
}
