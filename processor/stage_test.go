package processor_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// stage is where a run is steered.
type stage struct {
	w    *world
	p    *process
	wide bool // two branches to a document
}

// unversioned is a local store of which nobody can ask a hundred times a second
// whether anything was written, which in tests of many minutes adds up.
type unversioned struct{ store.Store }

func (unversioned) Local() bool { return true }

func emptyStage(t *testing.T, wide bool) *stage {
	t.Helper()
	w := newWorld(t)
	g := &stage{w, w.processOn(unversioned{w.st}, nil), wide}
	if wide {
		g.p.SetWide(2, 1<<20)
	}
	return g
}

// newStage is a run of four branches that stand differently: the first waits for
// someone outside, and so does the second, after a step; the third is worked on; the
// fourth has failed.
func newStage(t *testing.T, wide bool) *stage {
	t.Helper()
	g := emptyStage(t, wide)
	pl := pipeline(t,
		patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Split("Work", 1, 2, 3, 4).Join("Sum"), nil
		}),
		patient("Work", workOnStage),
		patient("Keep", func(context.Context, *processor.Task) (processor.Outcome, error) { return processor.Wait(0), nil }),
		patient("Sum", processor.Aggregate(sum)),
	)
	g.p.work(&processor.WorkOptions{Slots: 10}, pl)
	g.p.start(pl, "r", nil)
	time.Sleep(3 * time.Second)
	return g
}

func workOnStage(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
	var n int
	if err := task.Decode(&n); err != nil {
		return processor.Outcome{}, err
	}
	switch {
	case n == 1:
		return processor.Wait(0), nil
	case n == 2:
		return processor.Next("Keep", n), nil
	case n == 4 && task.Attempt == 1:
		return processor.Abort("broken"), nil
	case n == 4:
		return processor.Complete(n), nil
	}
	select {
	case <-ctx.Done():
		return processor.Outcome{}, ctx.Err()
	case <-time.After(2 * time.Minute):
		return processor.Complete(n), nil
	}
}

// at is the address of a step of a branch.
func (g *stage) at(branch, step int) string {
	if g.wide {
		return fmt.Sprintf("%02d.00/%02d.%02d", (branch+1)/2, (branch-1)%2+1, step)
	}
	return fmt.Sprintf("%02d.%02d", branch, step)
}

// end lets the run end, and says how it did: as a whole, and in each event.
func (g *stage) end() string {
	t := g.w.t
	t.Helper()
	time.Sleep(time.Minute)
	for _, at := range []string{g.at(1, 0), g.at(2, 1)} {
		err := g.p.Complete(t.Context(), "r", at, json.RawMessage("100"), "ann")
		if err != nil && !errors.Is(err, eventstream.ErrFinal) {
			t.Errorf("Complete(%s) = %v", at, err)
		}
	}
	end := g.w.awaitWithin(g.p, 2*time.Hour)
	time.Sleep(10 * time.Second) // for the sweep to end what is below
	lines := []string{fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output)}
	for d, err := range g.p.Documents(t.Context(), "r") {
		if err != nil {
			t.Fatal(err)
		}
		if problems := d.Stream.Validate(); len(problems) > 0 {
			t.Errorf("document %s has problems: %v", d.Address(eventstream.RootID), problems)
		}
		for e := range d.Stream.Events() {
			line := fmt.Sprintf("%s %v", d.Address(e.ID()), e.Status())
			if !e.IsBatch() {
				line += fmt.Sprintf(", attempt %d", e.Attempt())
			}
			lines = append(lines, line)
		}
	}
	wantNoneOpen(t, g.p)
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// place is what is steered on a stage.
type place string

const (
	theRun      place = "run"
	theWaiting  place = "event that waits"
	theThread   place = "thread"
	theSecond   place = "second event of a thread"
	theRunning  place = "event that runs"
	theFailed   place = "event that failed"
	theBranches place = "batch event" // of the first two branches, where the split is wide
)

// address of a place, as the library takes it.
func (g *stage) address(of place) string {
	switch of {
	case theWaiting:
		return g.at(1, 0)
	case theThread:
		return strings.Replace(g.at(2, 0), "02.00", "02.*", 1)
	case theSecond:
		return g.at(2, 1)
	case theRunning:
		return g.at(3, 0)
	case theFailed:
		return g.at(4, 0)
	case theBranches:
		return "01.00"
	}
	return ""
}

// change changes the event that stands for a place by hand.
func (g *stage) change(of place, f func(line string) string) {
	g.w.t.Helper()
	at := cmp.Or(strings.Replace(g.address(of), "*", "00", 1), "00")
	hand{g.w}.changeEvent(at, f)
}

// eachPlace plays something at some places of stages in one document and in several.
func eachPlace(t *testing.T, name string, places []place, play func(t *testing.T, of place, wide bool)) {
	for _, of := range places {
		for _, wide := range []bool{false, true} {
			if of == theBranches && !wide {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/wide=%t", name, of, wide), func(t *testing.T) { play(t, of, wide) })
		}
	}
}

// newDelayedStage is a run of four branches of two steps, each of which may be
// claimed ten seconds after the one before it has ended.
func newDelayedStage(t *testing.T, wide bool) *stage {
	t.Helper()
	g := emptyStage(t, wide)
	first := patient("First", func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
		return processor.Next("Second", task.Input).Delay(10 * time.Second), nil
	})
	first.Delay = 10 * time.Second
	pl := pipeline(t,
		patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Split("First", 1, 2, 3, 4).Join("Sum"), nil
		}),
		first, patient("Second", square), patient("Sum", processor.Aggregate(sum)),
	)
	g.p.work(&processor.WorkOptions{Slots: 10}, pl)
	g.p.start(pl, "r", nil)
	return g
}

// unclaimed are the addresses of the events that wait for a worker.
func (g *stage) unclaimed() (at []string) {
	g.w.t.Helper()
	for d, err := range g.p.Documents(g.w.t.Context(), "r") {
		if err != nil {
			g.w.t.Fatal(err)
		}
		for e := range d.Stream.ByStatus(eventstream.Init) {
			at = append(at, d.Address(e.ID()))
		}
	}
	slices.Sort(at)
	return at
}

// newWaitingStage is a run of branches that wait ten minutes for someone outside,
// each time.
func newWaitingStage(t *testing.T, wide bool) *stage {
	t.Helper()
	g := emptyStage(t, wide)
	pl := pipeline(t, threeWays(func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Wait(10 * time.Minute), nil
	}, all, 0)...)
	g.p.work(nil, pl)
	g.p.start(pl, "r", nil)
	return g
}
