package processor_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// finder is a Find that counts how often it was asked.
type finder struct {
	mu    sync.Mutex // guards the fields below
	found map[string]*processor.Pipeline
	err   error
	asked map[string]int
}

func (f *finder) find(_ context.Context, definition string) (*processor.Pipeline, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[definition]++
	return f.found[definition], f.err
}

func (f *finder) set(definition string, pl *processor.Pipeline, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil {
		f.found = map[string]*processor.Pipeline{}
	}
	f.found[definition], f.err = pl, err
}

func (f *finder) times(definition string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[definition]
}

// A run of a definition that the worker was not given waits until it is found,
// and so do others of the definition no more.
func TestFind(t *testing.T) {
	for _, far := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var f finder
			worker := w.process(nil)
			if far {
				worker = w.processOn(farFaults{storetest.NewFaults(w.st, nil)}, nil)
			}
			worker.work(&processor.WorkOptions{ID: "w", Find: f.find})
			pl := squares(t, square)
			starter := w.process(nil)
			starter.start(pl, "r", 3)
			time.Sleep(10 * time.Minute)
			if s := starter.stream("r"); s.Root().Attempt() != 0 {
				t.Fatalf("the run was worked on without its pipeline: %s", s.Root().Status())
			}
			if n := f.times(pl.Definition()); n < 5 || n > 310 {
				t.Errorf("the definition was asked for %d times in ten minutes", n)
			}
			f.set(pl.Definition(), pl, nil)
			wantEnd(t, starter.await("r"), eventstream.Completed, false, "14")
			n := f.times(pl.Definition())
			wantEnd(t, starter.run(pl, "s", 2), eventstream.Completed, false, "5")
			if f.times(pl.Definition()) != n {
				t.Errorf("a definition was asked for after it had been found")
			}
			if info := workerInfo(t, starter, "w"); !info.Serves(pl.Definition(), "Square") {
				t.Errorf("the worker's blob says %+v, want that it serves what it found", info)
			}
		})
	}
}

func workerInfo(t *testing.T, p *process, id string) processor.WorkerInfo {
	t.Helper()
	for info, err := range p.Workers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if info.ID == id && info.Alive {
			return info
		}
	}
	t.Fatalf("no worker %q lives", id)
	return processor.WorkerInfo{}
}

// A doorbell for a step that was found later is heard.
func TestFind_ListensForTheNewSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		network := membus.New()
		t.Cleanup(func() { network.Close() })
		st := slowStore{w.st}
		pl := squares(t, square)
		var f finder
		f.set(pl.Definition(), pl, nil)
		w.processOn(st, &processor.Options{Bus: network}).work(&processor.WorkOptions{Find: f.find})
		starter := w.processOn(st, &processor.Options{Bus: network.Join()})
		starter.run(pl, "first", 1)
		time.Sleep(time.Hour)
		begin := time.Now()
		starter.start(pl, "r", 3)
		// Await looks every two seconds, and the worker every thirty.
		wantEnd(t, starter.await("r"), eventstream.Completed, false, "14")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("with doorbells the run took %v", took)
		}
	})
}

// What cannot be served is said once, and again only when it changes; a pipeline
// of another definition is not run.
func TestFind_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var log strings.Builder
		worker := w.process(&processor.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		var f finder
		pl := squares(t, square)
		f.set(pl.Definition(), nil, errors.New("the hash does not match"))
		worker.work(&processor.WorkOptions{Find: f.find})
		worker.start(pl, "r", 3)
		time.Sleep(time.Minute)
		f.set(pl.Definition(), pipeline(t, processor.Step{Name: "Split", Handler: splitNumbers}), nil)
		time.Sleep(time.Minute)
		if s := worker.stream("r"); s.Root().Attempt() != 0 {
			t.Errorf("the run was worked on by another pipeline: %s", s.Root().Status())
		}
		worker.end()
		if n := strings.Count(log.String(), "the hash does not match"); n != 1 {
			t.Errorf("the error was logged %d times, want once:\n%s", n, log.String())
		}
		if !strings.Contains(log.String(), "another definition was found") {
			t.Errorf("log:\n%swant that another definition was found", log.String())
		}
	})
}

// A doorbell about a run whose metadata are gone leads to its definition too.
func TestFind_WithoutMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		starter := w.process(nil)
		starter.start(pl, "r", 3)
		blob, err := w.st.Get(t.Context(), processor.BlobOf("r"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.st.Put(t.Context(), processor.BlobOf("r"), blob.Body, nil); err != nil {
			t.Fatal(err)
		}
		var f finder
		f.set(pl.Definition(), pl, nil)
		w.process(nil).work(&processor.WorkOptions{Find: f.find})
		wantEnd(t, starter.await("r"), eventstream.Completed, false, "14")
	})
}

func TestWork_WithoutPipelines(t *testing.T) {
	if err := newWorld(t).process(nil).Work(t.Context(), nil); err == nil {
		t.Error("Work() without pipelines and Find succeeded")
	}
}
