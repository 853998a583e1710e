package scope_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func newStream(t *testing.T, name string) *eventstream.Stream {
	t.Helper()
	s, err := eventstream.New(time.Now(), eventstream.Start{Name: "order", Run: "r1", Root: eventstream.NewEvent{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCreate(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		if err := w.in.Delete(t.Context(), blob, nil); err != nil {
			t.Fatal(err)
		}
		s := w.newScope(nil)
		r, err := s.Create(t.Context(), blob, newStream(t, "Start"))
		if err != nil {
			t.Fatalf("Create() = %v", err)
		}
		if want := []scope.EventRef{{ID: "00", Topic: "Start"}}; !slices.Equal(r.Created, want) || r.ETag != w.get().ETag || !r.Changed {
			t.Errorf("Result = %+v, want %v created", r, want)
		}
		if meta := w.get().Metadata; meta["status"] != "inprocess" || meta["steer"] != "0" || meta["run"] != "r1" || meta["commits"] == "" {
			t.Errorf("metadata = %v", meta)
		}
		_, err = s.Create(t.Context(), blob, newStream(t, "Another"))
		wantErr(t, "second Create()", err, store.ErrExists)
		hold(t, s, nil)
		_, err = s.Create(t.Context(), blob, newStream(t, "Another"))
		wantErr(t, "Create() over a leased blob", err, store.ErrExists)
		w.wantNames("Start")
	})
}

// What was created is edited without being read first, unless somebody has written
// it since.
func TestCreate_StaysInMemory(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		inBubble(t, func(t *testing.T, w *world) {
			if err := w.in.Delete(t.Context(), blob, nil); err != nil {
				t.Fatal(err)
			}
			s := w.newScope(nil)
			if _, err := s.Create(t.Context(), blob, newStream(t, "a")); err != nil {
				t.Fatal(err)
			}
			want, reads := []string{"a", "b"}, int64(0)
			if foreign {
				if _, err := newScope(t, w.in, nil).Edit(t.Context(), blob, add("theirs")); err != nil {
					t.Fatal(err)
				}
				want, reads = []string{"a", "theirs", "b"}, 1
			}
			if _, err := s.Edit(t.Context(), blob, add("b")); err != nil {
				t.Fatal(err)
			}
			w.wantNames(want...)
			if got := s.Stats().Reads; got != reads {
				t.Errorf("written by somebody else %t: %d reads, want %d", foreign, got, reads)
			}
		})
	}
}

func TestCreate_Outcomes(t *testing.T) {
	for _, test := range []struct {
		name      string
		failures  int
		apply     bool
		err       error
		meanwhile func(w *world)
		want      error
	}{
		{name: "answer lost", failures: 1, apply: true, err: errReset},
		{name: "answers lost", failures: 4, apply: true, err: errReset},
		{name: "request lost", failures: 1, err: errReset},
		{name: "throttled", failures: 3, err: store.ErrThrottled},
		{name: "applied, then built upon", failures: 1, apply: true, err: errReset, meanwhile: func(w *world) {
			if _, err := newScope(w.t, w.in, nil).Edit(context.Background(), blob, add("theirs")); err != nil {
				w.t.Error(err)
			}
		}},
		{name: "another was first", failures: 1, err: errReset, want: store.ErrExists, meanwhile: func(w *world) {
			if _, err := newScope(w.t, w.in, nil).Create(context.Background(), blob, newStream(w.t, "theirs")); err != nil {
				w.t.Error(err)
			}
		}},
		{name: "another run was first", failures: 1, err: errReset, want: store.ErrExists, meanwhile: func(w *world) {
			w.putMeta([]byte("<EventStream/>"), map[string]string{"run": "another"})
		}},
		{name: "applied, then the metadata gone", failures: 1, apply: true, err: errReset, want: scope.ErrOutcomeUnknown, meanwhile: func(w *world) {
			w.put([]byte("<EventStream/>"))
		}},
		{name: "never answered", failures: 1 << 30, err: errReset, want: scope.ErrOutcomeUnknown},
		{name: "throttled for ever", failures: 1 << 30, err: store.ErrThrottled, want: store.ErrThrottled},
		{name: "no right", failures: 1, err: store.ErrUnauthorized, want: store.ErrUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				if err := w.in.Delete(t.Context(), blob, nil); err != nil {
					t.Fatal(err)
				}
				w.failNext("put", test.failures, test.apply, test.err)
				if test.meanwhile != nil {
					time.AfterFunc(time.Microsecond, func() { test.meanwhile(w) })
				}
				s := w.newScope(nil)
				_, err := s.Create(t.Context(), blob, newStream(t, "ours"))
				if !errors.Is(err, test.want) {
					t.Errorf("Create() = %v, want %v", err, test.want)
				}
				if test.want == nil {
					before := w.names()
					edit(t, s, add("more"))
					w.wantNames(append(before, "more")...)
				}
			})
		})
	}
}

func TestCreate_CanceledBeforeAndAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		if err := w.in.Delete(t.Context(), blob, nil); err != nil {
			t.Fatal(err)
		}
		s := w.newScope(nil)
		ctx, cancel := context.WithCancel(t.Context())
		w.once("put", func() (bool, error) { cancel(); return true, context.Canceled })
		_, err := s.Create(ctx, blob, newStream(t, "a"))
		wantErr(t, "Create() canceled under way", err, context.Canceled, scope.ErrOutcomeUnknown)
		_, err = s.Create(ctx, blob, newStream(t, "a"))
		if wantErr(t, "Create() with an ended context", err, context.Canceled); errors.Is(err, scope.ErrOutcomeUnknown) {
			t.Errorf("Create() with an ended context = %v, want it known that nothing was sent", err)
		}
	})
}

func TestCreate_TooLarge(t *testing.T) {
	st := memstore.New(&memstore.Options{MaxBody: 100})
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := newScope(t, st, nil).Create(t.Context(), blob, newStream(t, strings.Repeat("x", 100)))
	wantErr(t, "Create()", err, store.ErrTooLarge)
}
