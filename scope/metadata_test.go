package scope_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

func TestEdit_Metadata(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(&scope.Options{Writer: "w1"})
		if _, err := s.Create(t.Context(), "streams/new.xml", newStream(t, "Start")); err != nil {
			t.Fatal(err)
		}
		created, err := w.in.Get(t.Context(), "streams/new.xml", nil)
		if err != nil {
			t.Fatal(err)
		}
		created.Metadata["owner"] = "Müller & Söhne"
		w.putMeta(created.Body, created.Metadata)

		edit(t, s, func(s *eventstream.Stream) error { return s.Update(s.Root(), "tag", "x") })
		wantMeta(t, w, "owner", "Müller & Söhne", "steer", "0", "status", "inprocess", "progress", "0/1",
			"commits", "w1:2:946684800", "paused", "")
		time.Sleep(time.Minute)
		edit(t, s, func(s *eventstream.Stream) error { return s.Pause(nil, "me", "lunch") })
		wantMeta(t, w, "owner", "Müller & Söhne", "steer", "1", "paused", "true", "commits", "w1:3:946684860")
		edit(t, w.newScope(&scope.Options{Writer: "w2"}), func(s *eventstream.Stream) error { return s.Resume(nil) })
		wantMeta(t, w, "steer", "2", "paused", "", "commits", "w2:1:946684860 w1:3:946684860")
		if _, ok := eventstream.ParseSummary(w.get().Metadata); !ok {
			t.Errorf("ParseSummary(%v) = false", w.get().Metadata)
		}
	})
}

func wantMeta(t *testing.T, w *world, pairs ...string) {
	t.Helper()
	meta := w.get().Metadata
	for i := 0; i < len(pairs); i += 2 {
		if got := meta[pairs[i]]; got != pairs[i+1] {
			t.Errorf("metadata %s = %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

func TestEdit_MetadataOfOthersLeaveNoRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.putMeta(nil, map[string]string{"theirs": strings.Repeat("x", 8100)})
		_, err := w.newScope(nil).Edit(t.Context(), blob, add("a"))
		wantErr(t, "Edit()", err, store.ErrTooLarge)
		if got := w.get().Body; len(got) != 0 {
			t.Errorf("content = %q, want nothing written", got)
		}
	})
}

// Times in a document are the store's, not ours.
func TestEdit_WritesStoreTime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const ahead = 3 * time.Hour
		s := newScope(t, aheadStore{w.st, ahead}, nil)
		edit(t, s, add("a"))
		want := time.Now().Add(ahead)
		if got := s.Now(); !got.Equal(want) {
			t.Errorf("Now() = %v, want the store's %v", got, want)
		}
		stream, err := eventstream.Parse(w.get().Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := stream.Root().Time("created"); !got.Equal(want) {
			t.Errorf("created = %v, want %v", got, want)
		}
	})
}

// Every answer of the store sets the clock, whoever asked.
func TestScope_NowLearnsFromTheStore(t *testing.T) {
	const ahead = 3 * time.Hour
	for name, ask := range map[string]func(t *testing.T, st store.Store) error{
		"get":  func(t *testing.T, st store.Store) error { _, err := st.Get(t.Context(), blob, nil); return err },
		"put":  func(t *testing.T, st store.Store) error { _, err := st.Put(t.Context(), blob, nil, nil); return err },
		"stat": func(t *testing.T, st store.Store) error { _, err := st.Stat(t.Context(), blob, nil); return err },
		"list": func(t *testing.T, st store.Store) error {
			for _, err := range st.List(t.Context(), "") {
				return err
			}
			return nil
		},
		"lease": func(t *testing.T, st store.Store) error {
			_, err := st.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
			return err
		},
	} {
		inBubble(t, func(t *testing.T, w *world) {
			s := newScope(t, aheadStore{w.st, ahead}, nil)
			if got := s.Now(); !got.Equal(time.Now()) {
				t.Errorf("Now() before any answer = %v, want our own time", got)
			}
			if err := ask(t, s.Store()); err != nil {
				t.Fatal(err)
			}
			if got, want := s.Now(), time.Now().Add(ahead); !got.Equal(want) {
				t.Errorf("Now() after %s = %v, want %v", name, got, want)
			}
		})
	}
}
