package processor_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// unserved asks about all open runs.
func (p *process) unserved() map[string]*processor.Unserved {
	p.w.t.Helper()
	roster, err := p.Roster(p.w.t.Context())
	if err != nil {
		p.w.t.Fatalf("Roster() = %v", err)
	}
	found := map[string]*processor.Unserved{}
	for run, err := range p.List(p.w.t.Context(), nil) {
		if err != nil {
			p.w.t.Fatal(err)
		}
		if u := roster.Unserved(run); u != nil {
			found[run.Name] = u
		}
	}
	return found
}

func TestUnserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := squares(t, square)
		p.start(pl, "r", 3)
		got := p.unserved()["r"]
		want := fmt.Sprintf("&{Pipeline:test Definition:%s Steps:[Split] Others:[]}", pl.Definition())
		if fmt.Sprintf("%+v", got) != want {
			t.Errorf("Unserved() without workers = %+v, want %s", got, want)
		}

		// The same pipeline in another version serves nothing of the run.
		changed, err := processor.NewPipeline("test", &processor.Definition{Source: []byte("changed")}, pl.Steps()...)
		if err != nil {
			t.Fatal(err)
		}
		w.process(nil).work(&processor.WorkOptions{ID: "changed"}, changed)
		// Nor does a worker that has eyes for another run only.
		w.process(nil).work(&processor.WorkOptions{ID: "only", Only: []string{"other"}}, pl)
		time.Sleep(time.Second)
		if got := p.unserved()["r"]; got == nil || len(got.Others) != 1 || got.Others[0] != changed.Definition() {
			t.Errorf("Unserved() beside a changed definition = %+v, want it in Others", got)
		}

		if err := p.Pause(t.Context(), "r", "", "", ""); err != nil {
			t.Fatal(err)
		}
		if got := p.unserved(); len(got) > 0 {
			t.Errorf("Unserved() of a paused run = %+v, want none", got)
		}
		if err := p.Resume(t.Context(), "r", ""); err != nil {
			t.Fatal(err)
		}
		w.process(nil).work(&processor.WorkOptions{ID: "right"}, pl)
		p.await("r")
		p.start(pl, "other", 3)
		if got := p.unserved(); len(got) > 0 {
			t.Errorf("Unserved() with a worker = %+v, want none", got)
		}
	})
}

// A worker that died serves nothing, as soon as its lease has run out; nor does a
// blob that is no worker's stand in the way.
func TestUnserved_DeadWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		cut := cutOff(w, pl)
		time.Sleep(time.Second)
		cut()
		p := w.process(nil)
		if _, err := w.st.Put(t.Context(), "workers/x", []byte("not ours"), nil); err != nil {
			t.Fatal(err)
		}
		p.start(pl, "r", 3)
		time.Sleep(20 * time.Second)
		if got := p.unserved()["r"]; got == nil || len(got.Steps) != 1 {
			t.Errorf("Unserved() after the worker's death = %+v, want a step", got)
		}
	})
}

// The workers are read once, however many runs are looked at.
func TestRoster_IsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		for i := range 3 {
			w.process(nil).work(&processor.WorkOptions{ID: fmt.Sprint("w", i), Only: []string{"none"}}, pl)
		}
		spy := storetest.NewFaults(w.st, nil)
		p := w.processOn(spy, nil)
		for i := range 20 {
			p.start(pl, fmt.Sprint("r", i), 3)
		}
		time.Sleep(time.Second)
		before := spy.Total()
		if got := p.unserved(); len(got) != 20 {
			t.Errorf("%d runs are unserved, want 20", len(got))
		}
		if n := spy.Total() - before; n > 6 { // two listings of runs, one of workers, and the workers
			t.Errorf("looking at 20 runs made %d requests: %v", n, spy.Counts())
		}
	})
}
