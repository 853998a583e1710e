package processor_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

func (w *world) blobs(prefix string) []string {
	w.t.Helper()
	var names []string
	for info, err := range w.st.List(w.t.Context(), prefix) {
		if err != nil {
			w.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

func TestArchive_MovesEndedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		var broken atomic.Bool
		broken.Store(true)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if broken.Load() && task.Event == "02.00" {
				return processor.Abort("broken"), nil
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		first := p.start(pl, "r", 3)
		wantEnd(t, p.await("r"), eventstream.Completed, true, "10")
		time.Sleep(59 * time.Minute)
		if got := w.blobs("streams/"); len(got) != 1 {
			t.Errorf("within the hour the open runs are %q", got)
		}
		time.Sleep(2 * time.Minute)
		if got := w.blobs("streams/"); len(got) != 0 {
			t.Errorf("after the hour the open runs are %q", got)
		}
		if got := w.blobs("archive/"); len(got) != 1 || got[0] != "archive/r~"+first.ID+".xml" {
			t.Errorf("the archive has %q", got)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, true, "10")
		if again := p.start(pl, "r", 3); !again.Attached || again.ID != first.ID {
			t.Errorf("Start() of an archived run = %+v, want it attached", again)
		}
		if err := p.Cancel(t.Context(), "r", "", "", ""); !errors.Is(err, eventstream.ErrFinal) {
			t.Errorf("Cancel() of an archived run = %v, want ErrFinal", err)
		}
		names := 0
		for info, err := range p.List(t.Context(), nil) {
			if err != nil || info.Name != "r" {
				t.Errorf("List() = %q, %v", info.Name, err)
			}
			names++
		}
		if names != 1 {
			t.Errorf("List() has %d runs, want 1", names)
		}

		broken.Store(false)
		if _, err := p.Retry(t.Context(), "r", nil); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		if got := w.blobs("archive/"); len(got) != 0 {
			t.Errorf("after the retry the archive has %q", got)
		}
	})
}

func TestPurge_RemovesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		big := strings.Repeat("x", 10_000)
		pl := pipeline(t, processor.Step{Name: "A", Handler: processor.Func(func(_ context.Context, s string) (string, error) {
			return s + "y", nil
		})})
		first := p.start(pl, "r", big)
		if _, err := p.Purge(t.Context(), "r"); !errors.Is(err, processor.ErrOpen) {
			t.Errorf("Purge() of an open run = %v, want ErrOpen", err)
		}
		p.work(nil, pl)
		p.await("r")
		if got := w.blobs("payload/"); len(got) != 2 {
			t.Fatalf("the payloads are %q, want input and output", got)
		}
		purged, err := p.Purge(t.Context(), "r")
		if err != nil || purged.Payloads != 2 || purged.Bytes < 20_000 {
			t.Errorf("Purge() = %+v, %v", purged, err)
		}
		if left := append(w.blobs("payload/"), w.blobs("streams/")...); len(left) != 0 {
			t.Errorf("the purge left %q", left)
		}
		if _, err := p.Purge(t.Context(), "r"); !errors.Is(err, processor.ErrNoRun) {
			t.Errorf("Purge() twice = %v, want ErrNoRun", err)
		}
		if second := p.start(pl, "r", big); second.Attached || second.ID == first.ID {
			t.Errorf("Start() after the purge = %+v, want a new run", second)
		}
	})
}

// stopStore lets n requests pass that change something, and then no more.
type stopStore struct {
	cutStore
	left atomic.Int32
}

func (s *stopStore) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	s.step()
	return s.cutStore.Put(ctx, name, body, o)
}

func (s *stopStore) Delete(ctx context.Context, name string, c *store.Conditions) error {
	s.step()
	return s.cutStore.Delete(ctx, name, c)
}

func (s *stopStore) step() {
	if s.left.Add(-1) < 0 {
		s.cut.Store(true)
	}
}

func TestPurge_GoesOnWhereverItWasKilled(t *testing.T) {
	for steps := range int32(6) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			big := strings.Repeat("x", 10_000)
			pl := pipeline(t, processor.Step{Name: "A", Handler: processor.Func(func(_ context.Context, s string) (string, error) {
				return s + "y", nil
			})})
			p.work(nil, pl)
			first := p.start(pl, "r", big)
			p.await("r")

			st := &stopStore{cutStore: cutStore{Store: w.st}}
			st.left.Store(steps)
			killed := w.processOn(st, nil)
			_, err := killed.Purge(t.Context(), "r")
			time.Sleep(time.Minute) // until the lease of the killed one has run out
			if steps > 0 && err != nil {
				if _, err := p.Read(t.Context(), "r"); !errors.Is(err, processor.ErrNoRun) {
					t.Errorf("killed at step %d: Read() = %v, want ErrNoRun", steps, err)
				}
			}
			second := p.start(pl, "r", big)
			if killedBeforeItBegan := steps == 0; second.Attached != killedBeforeItBegan {
				t.Errorf("killed at step %d: Start() = %+v", steps, second)
			}
			p.await("r")
			for _, blob := range w.blobs("payload/") {
				if strings.Contains(blob, first.ID) && !second.Attached {
					t.Errorf("killed at step %d: payload %q is left", steps, blob)
				}
			}
		})
	}
}

func TestGarbage_IsCollectedAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil) // a local one would be polled two million times
		pl := pipeline(t, processor.Step{Name: "A", Handler: processor.Func(func(_ context.Context, s string) (string, error) {
			return s + "y", nil
		})})
		p.work(nil, pl)
		p.run(pl, "r", strings.Repeat("x", 10_000))
		put := func(name string) {
			if _, err := w.st.Put(t.Context(), name, []byte("{}"), nil); err != nil {
				t.Fatal(err)
			}
		}
		put("payload/" + p.stream("r").Run() + "/00.lost.out")
		put("payload/gone/00.lost.out")
		put("workers/dead-1")
		time.Sleep(20 * time.Hour)
		if got := w.blobs("payload/"); len(got) != 4 {
			t.Errorf("within the day the payloads are %q", got)
		}
		time.Sleep(6 * time.Hour)
		if got := w.blobs("payload/"); len(got) != 2 {
			t.Errorf("after the day the payloads are %q, want those of the run", got)
		}
		if got := w.blobs("workers/"); len(got) != 1 || strings.Contains(got[0], "dead") {
			t.Errorf("after the day the workers are %q, want the live one", got)
		}
		if end := p.await("r"); len(end.Output) < 10_000 {
			t.Errorf("the output has %d bytes", len(end.Output))
		}
	})
}
