package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// run is a stream that a test makes.
type run struct {
	t *testing.T
	*eventstream.Stream
}

func newRunOf(t *testing.T) run {
	t.Helper()
	s, err := eventstream.New(time.Now(), eventstream.Start{Name: "r", Run: "k3v9x2", Pipeline: "p", Root: eventstream.NewEvent{Name: "Start"}})
	if err != nil {
		t.Fatal(err)
	}
	return run{t, s}
}

func (r run) edit(f func() error) {
	r.t.Helper()
	if _, err := r.Edit(time.Now(), f); err != nil {
		r.t.Fatal(err)
	}
}

// split ends an event in n branches.
func (r run) split(id string, n int, step, join string) {
	r.t.Helper()
	branches := make([]eventstream.NewEvent, n)
	for i := range branches {
		branches[i].Name = step
	}
	r.edit(func() error {
		if err := r.Claim(r.Event(id), "w"); err != nil {
			return err
		}
		_, err := r.Split(r.Event(id), branches, &eventstream.SplitOptions{Join: join})
		return err
	})
}

func (r run) claim(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		r.edit(func() error { return r.Claim(r.Event(id), "w-"+id) })
	}
}

func (r run) complete(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		r.edit(func() error { return r.Complete(r.Event(id), nil) })
	}
}

func (r run) abort(id, why string) {
	r.t.Helper()
	r.edit(func() error { return r.Abort(r.Event(id), "", why) })
}

// newContainer is a container in memory.
func newContainer(t *testing.T) (*scope.Scope, *processor.Processor) {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc := scope.New(st, nil)
	t.Cleanup(func() { sc.Close() })
	return sc, processor.New(sc, nil)
}

// outlined is the outline of the run r.
func outlined(t *testing.T, p *processor.Processor) []line {
	t.Helper()
	d, err := p.Document(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := outlineOf(t.Context(), "r", d)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func shownLines(lines []line) string {
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.shown(0, false) + "\n")
	}
	return text.String()
}

func (r run) outline() []line {
	r.t.Helper()
	sc, p := newContainer(r.t)
	if _, err := sc.Create(r.t.Context(), processor.BlobOf("r"), r.Stream); err != nil {
		r.t.Fatal(err)
	}
	return outlined(r.t, p)
}

// wantOutline compares the outline but for its head.
func (r run) wantOutline(want string) {
	r.t.Helper()
	if got := shownLines(r.outline()[1:]); got != want {
		r.t.Errorf("outline is\n%s, want\n%s", got, want)
	}
}

func TestOutline_WhatIsAlikeIsOneLine(t *testing.T) {
	r := newRunOf(t)
	r.split("00", 8, "Work", "Sum")
	r.claim("02.00", "03.00", "05.00")
	r.complete("05.00", "06.00")
	r.wantOutline(`  00 Start inprocess (2 of 8 branches done)
    01.00 … 08.00 4 × Work init
    02.00 … 03.00 2 × Work inprocess
    05.00 … 06.00 2 × Work completed
`)
}

func TestOutline_WhatFailedIsOpen(t *testing.T) {
	r := newRunOf(t)
	r.split("00", 9, "Work", "Sum")
	r.abort("04.00", "no such city")
	for i := 5; i <= 8; i++ {
		r.abort(fmt.Sprintf("%02d.00", i), fmt.Sprint("reason ", i))
	}
	r.wantOutline(`  00 Start inprocess (5 of 9 branches done, 5 failed)
    01.00 … 09.00 4 × Work init
    04.00 Work aborted: no such city
    05.00 Work aborted: reason 5
    06.00 Work aborted: reason 6
    07.00 … 08.00 2 × Work aborted
`)
}

func TestOutline_NestedSplits(t *testing.T) {
	r := newRunOf(t)
	r.split("00", 4, "Inner", "Total")
	for _, id := range []string{"01.00", "02.00", "03.00"} {
		r.split(id, 3, "Work", "Sum")
	}
	r.complete("01.01.00", "01.02.00", "01.03.00", "03.01.00", "03.02.00", "03.03.00")
	r.abort("02.02.00", "no")
	r.wantOutline(`  00 Start inprocess (0 of 4 branches done)
    01.00 … 03.00 2 × Inner › Sum init (3 of 3 branches done)
    02.00 Inner inprocess (1 of 3 branches done, 1 failed)
      02.01.00 … 02.03.00 2 × Work init
      02.02.00 Work aborted: no
    04.00 Inner init
`)
}

func TestOutline_Loop(t *testing.T) {
	r := newRunOf(t)
	for i := range 20 {
		id := eventstream.JoinID("", i)
		r.claim(id)
		r.edit(func() error { _, err := r.Next(r.Event(id), eventstream.NewEvent{Name: "Again"}); return err })
	}
	r.wantOutline(`  00 Start inprocess
  01 … 19 19 × Again inprocess
  20 Again init
`)
}

// A run of any width is shown on a few lines, and in a moment.
func TestOutline_Wide(t *testing.T) {
	r := newRunOf(t)
	r.split("00", 50_000, "Work", "Sum")
	r.claim("500.00")
	r.complete("700.00")
	if lines := r.outline(); len(lines) != 5 {
		t.Errorf("%d lines, want 5", len(lines))
	}
}

// What failed in a child stream of a wide split is open as well.
func TestOutline_ChildStreams(t *testing.T) {
	_, p := newContainer(t)
	work := func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
		if string(task.Input) == "2400" {
			return processor.Abort("no such city"), nil
		}
		return processor.Complete(nil), nil
	}
	many := func(context.Context, *processor.Task) (processor.Outcome, error) {
		messages := make([]any, 2500)
		for i := range messages {
			messages[i] = i
		}
		return processor.Split("Work", messages...), nil
	}
	pl, err := processor.NewPipeline("p", nil, processor.Step{Name: "Many", Handler: many}, processor.Step{Name: "Work", Handler: work})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start(t.Context(), pl, nil, &processor.StartOptions{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	worker.Go(func() {
		if err := p.Work(ctx, nil, pl); err != nil {
			t.Errorf("Work() = %v", err)
		}
	})
	_, err = p.Await(t.Context(), "r", nil)
	stop()
	worker.Wait()
	if err != nil {
		t.Fatal(err)
	}
	lines := outlined(t, p)
	if head := lines[0].shown(0, false); !strings.Contains(head, "2501 of 2501 events done") {
		t.Errorf("head = %q, want all events counted", head)
	}
	want := `  00 Many completed with errors (2500 of 2500 branches done, 1 failed)
    01.00 … 02.00 2 × batch completed (1000 branches)
    03.00 batch completed with errors (500 branches, 1 failed)
      03.00/01.00 … 03.00/500.00 499 × Work completed
      03.00/401.00 Work aborted: no such city
`
	if got := shownLines(lines[1:]); got != want {
		t.Errorf("outline is\n%s, want\n%s", got, want)
	}
}
