package processor_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
)

// hanging starts a run whose branches hang, and returns it when its three children
// are there.
func hanging(t *testing.T, p *process) *processor.Pipeline {
	t.Helper()
	var stopped atomic.Int32
	pl := fanOut(t, numbers(12, "all"), hangBut(&stopped, func(int) (processor.Outcome, bool) { return processor.Outcome{}, false }))
	p.work(&processor.WorkOptions{Slots: 20}, pl)
	p.start(pl, "r", nil)
	time.Sleep(time.Second)
	if got := p.w.blobs("streams/r/"); len(got) != 3 {
		t.Fatalf("the children are %q", got)
	}
	return pl
}

// behind edits a blob behind the back of the processor.
func behind(t *testing.T, p *process, blob string, f func(*eventstream.Stream) error) {
	t.Helper()
	sc := scope.New(p.w.st, nil)
	defer sc.Close()
	if _, err := sc.Edit(t.Context(), blob, f); err != nil {
		t.Fatal(err)
	}
}

func TestWide_SweepReportsWhatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		hanging(t, p)
		behind(t, p, "streams/r/02.00.xml", func(s *eventstream.Stream) error { return s.Cancel(s.Root(), "thief", "by night") })
		time.Sleep(3 * time.Second)
		e := p.stream("r").Event("02.00")
		if e.Status() != eventstream.Canceled || e.Msg() != "by night" || e.Attr("by") != "thief" {
			t.Errorf("batch event 02.00 is %v by %q: %s", e.Status(), e.Attr("by"), e.Msg())
		}
	})
}

func TestWide_SweepCancelsBelowTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		hanging(t, p)
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error { return s.Cancel(s.Root(), "thief", "by night") })
		time.Sleep(3 * time.Second)
		wantNoneOpen(t, p)
	})
}

func TestWide_SweepPausesAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		hanging(t, p)
		paused := func() (names []string) {
			for d, err := range p.Documents(t.Context(), "r") {
				if err != nil {
					t.Fatal(err)
				}
				if d.IsChild() && d.Stream.Attr("paused") != "" {
					names = append(names, d.Address(eventstream.RootID))
				}
			}
			return names
		}
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error { return s.Pause(s.Event("02.00"), "", "") })
		time.Sleep(3 * time.Second)
		if got := paused(); fmt.Sprint(got) != "[02.00]" {
			t.Errorf("paused are %v", got)
		}
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error { return s.Pause(nil, "", "") })
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error { return s.Resume(s.Event("02.00")) })
		time.Sleep(3 * time.Second)
		if got := paused(); len(got) != 3 {
			t.Errorf("of the paused run %v are paused", got)
		}
		behind(t, p, "streams/r.xml", func(s *eventstream.Stream) error { return s.Resume(nil) })
		time.Sleep(3 * time.Second)
		if got := paused(); len(got) != 0 {
			t.Errorf("of the resumed run %v are paused", got)
		}
	})
}

func TestWide_SweepMakesWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var hang atomic.Bool
		hang.Store(true)
		pl := fanOut(t, numbers(12, "all"), func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if hang.Load() && strings.HasPrefix(task.Event, "02.00/") {
				<-ctx.Done()
				return processor.Outcome{}, ctx.Err()
			}
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		p.start(pl, "r", nil)
		time.Sleep(time.Second)
		if err := p.w.st.Delete(t.Context(), "streams/r/02.00.xml", nil); err != nil {
			t.Fatal(err)
		}
		hang.Store(false)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
	})
}

// A run that was purged may leave a child to the next run of its name, if somebody
// was late.
func TestWide_ChildOfAnotherRunIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := squares(t, square)
		p.work(nil, pl)
		p.run(pl, "old", 12)
		late, err := w.st.Get(t.Context(), "streams/old/02.00.xml", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.st.Put(t.Context(), "streams/r/02.00.xml", late.Body, nil); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, false, "650")
		s := p.stream("r")
		for d, err := range p.Documents(t.Context(), "r") {
			if err != nil || d.Stream.Run() != s.Run() {
				t.Errorf("document of run %q, %v, want %q", d.Stream.Run(), err, s.Run())
			}
		}
	})
}

func TestWide_OrphansEndAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		hanging(t, p)
		if err := w.st.Delete(t.Context(), "streams/r.xml", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		for _, blob := range w.blobs("streams/r/") {
			info, err := w.st.Stat(t.Context(), blob, nil)
			if err != nil || info.Metadata["status"] != "canceled" {
				t.Errorf("%s is %s, %v", blob, info.Metadata["status"], err)
			}
		}
		p.end()
		// A store that is not local, or a day would be looked at too closely.
		p = w.processOn(slowStore{w.st}, nil)
		p.work(nil, squares(t, square))
		time.Sleep(26 * time.Hour)
		if got := append(w.blobs("streams/"), w.blobs("payload/")...); len(got) != 0 {
			t.Errorf("after a day there are %q", got)
		}
	})
}

// Payloads that only a document of a child refers to are no garbage, nor are the
// messages of a batch event that nobody has opened.
func TestWide_GarbageLeavesPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		big := strings.Repeat("x", 10_000)
		pl := fanOut(t, func(context.Context, *processor.Task) (processor.Outcome, error) {
			all := make([]any, 12)
			for i := range all {
				all[i] = big
			}
			time.Sleep(time.Minute)
			return processor.Split("Work", all...).Join("Sum"), nil
		}, processor.Func(func(_ context.Context, s string) (int, error) {
			time.Sleep(time.Minute)
			return len(s), nil
		}))
		p.work(&processor.WorkOptions{Slots: 1}, pl)
		p.start(pl, "r", nil)
		for _, children := range []int{0, 3} {
			time.Sleep(50 * time.Second)
			if err := p.Pause(t.Context(), "r", "", "", ""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(26 * time.Hour)
			if got := w.blobs("streams/r/"); len(got) != children {
				t.Errorf("while the run is paused the children are %q, want %d", got, children)
			}
			if err := p.Resume(t.Context(), "r", ""); err != nil {
				t.Fatal(err)
			}
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "120000")
	})
}
