package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
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

// wantOutline compares the outline but for its head.
func (r run) wantOutline(want string) {
	r.t.Helper()
	var got strings.Builder
	for _, l := range outlineOf("r", r.Stream)[1:] {
		got.WriteString(l.shown(0, false) + "\n")
	}
	if got.String() != want {
		r.t.Errorf("outline is\n%s, want\n%s", got.String(), want)
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
	if lines := outlineOf("r", r.Stream); len(lines) != 5 {
		t.Errorf("%d lines, want 5", len(lines))
	}
}
