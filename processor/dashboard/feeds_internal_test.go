package dashboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// subject counts how often it is looked at.
type subject struct {
	mu      sync.Mutex // guards the fields below
	looks   int
	version string
	err     error
}

func newSubject(version string) *subject { return &subject{version: version} }

func (s *subject) look(context.Context) (update, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return update{version: s.version}, s.err
}

// be is what the next look finds.
func (s *subject) be(version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.err = version, err
}

// since is how often it was looked at since this was asked last.
func (s *subject) since() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	looks := s.looks
	s.looks = 0
	return looks
}

// withFeeds runs a test in a bubble, at the end of which no loop is left.
func withFeeds(t *testing.T, f func(*feeds, *memstore.Store)) {
	synctest.Test(t, func(t *testing.T) {
		st := memstore.New(nil)
		if err := st.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		fs := newFeeds(st)
		f(fs, st)
		fs.close()
	})
}

func (w *watcher) take(t *testing.T) string {
	t.Helper()
	select {
	case u := <-w.c:
		return u.version
	case <-time.After(time.Minute):
		return "nothing"
	}
}

func TestFeeds_OneLoopForAll(t *testing.T) {
	withFeeds(t, func(fs *feeds, _ *memstore.Store) {
		s := newSubject("1")
		first := fs.watch("s", fs.pace.run, s.look)
		if got := first.take(t); got != "1" {
			t.Errorf("first update = %s, want 1", got)
		}
		var watchers []*watcher
		for range 100 {
			w := fs.watch("s", fs.pace.run, s.look)
			if got := w.take(t); got != "1" {
				t.Errorf("update = %s, want 1 at once", got)
			}
			watchers = append(watchers, w)
		}
		s.since()
		time.Sleep(10 * time.Second)
		if looks := s.since(); looks > 11 {
			t.Errorf("%d looks in 10 s of a store that nobody writes, want one a second", looks)
		}
		for _, w := range watchers {
			w.leave()
			w.leave() // does no harm
		}
		first.leave()
		s.since()
		time.Sleep(10 * time.Second)
		if looks := s.since(); looks > 0 || len(fs.open) > 0 {
			t.Errorf("%d looks and %d subjects after the last one has left, want none", looks, len(fs.open))
		}
		again := fs.watch("s", fs.pace.run, s.look)
		defer again.leave()
		if got := again.take(t); got != "1" {
			t.Errorf("update = %s, want 1 from a loop of its own", got)
		}
	})
}

// A write to a local store is seen within a tenth of a second.
func TestFeeds_SeesWritesSoon(t *testing.T) {
	withFeeds(t, func(fs *feeds, st *memstore.Store) {
		s := newSubject("1")
		w := fs.watch("s", fs.pace.run, s.look)
		defer w.leave()
		w.take(t)
		for i := range 20 {
			want := fmt.Sprint("v", i)
			s.be(want, nil)
			began := time.Now()
			if _, err := st.Put(t.Context(), "b", nil, &store.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := w.take(t); got != want || time.Since(began) > 100*time.Millisecond {
				t.Errorf("update = %s after %v, want %s within 100ms", got, time.Since(began), want)
			}
		}
	})
}

// Who does not take updates gets the newest when they do, and holds up nobody.
func TestFeeds_SlowWatcher(t *testing.T) {
	withFeeds(t, func(fs *feeds, _ *memstore.Store) {
		s := newSubject("0")
		slow, quick := fs.watch("s", fs.pace.run, s.look), fs.watch("s", fs.pace.run, s.look)
		defer slow.leave()
		defer quick.leave()
		quick.take(t)
		for i := range 10 {
			want := fmt.Sprint(i + 1)
			s.be(want, nil)
			if got := quick.take(t); got != want {
				t.Errorf("update = %s, want %s", got, want)
			}
		}
		if got := slow.take(t); got != "10" {
			t.Errorf("update of the slow one = %s, want the newest, 10", got)
		}
		if got := slow.take(t); got != "nothing" {
			t.Errorf("next update of the slow one = %s, want none", got)
		}
	})
}

func TestFeeds_Errors(t *testing.T) {
	withFeeds(t, func(fs *feeds, _ *memstore.Store) {
		s := newSubject("")
		s.be("", errors.New("no such run"))
		w := fs.watch("s", fs.pace.run, s.look)
		defer w.leave()
		if got := w.take(t); got != "error: no such run" {
			t.Errorf("update = %s, want the error", got)
		}
		if got := w.take(t); got != "nothing" {
			t.Errorf("next update = %s, want the same error told once", got)
		}
		s.be("1", nil)
		if got := w.take(t); got != "1" {
			t.Errorf("update = %s, want 1", got)
		}
	})
}

func TestFeeds_Close(t *testing.T) {
	withFeeds(t, func(fs *feeds, _ *memstore.Store) {
		s := newSubject("1")
		w := fs.watch("s", fs.pace.run, s.look)
		w.take(t)
		fs.close()
		select {
		case <-fs.done():
		default:
			t.Error("done() is open after close, want it closed")
		}
		s.since()
		late := fs.watch("t", fs.pace.run, s.look)
		if got := late.take(t); got != "nothing" || s.since() > 0 {
			t.Errorf("update after close = %s, want nothing to be looked at", got)
		}
		w.leave()
		late.leave()
	})
}
