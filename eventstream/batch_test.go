package eventstream_test

import (
	"fmt"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// batches splits the root into batch events of ten branches each.
func batches(r *run, n int, o *eventstream.SplitOptions) {
	events := make([]eventstream.NewEvent, n)
	for i := range events {
		events[i] = eventstream.NewEvent{Name: "Batch", Input: eventstream.JSON([]byte("[]")), Attrs: []string{"branches", "10"}}
	}
	r.edit(func() error { _, err := r.Split(r.Root(), events, o); return err })
}

func TestBatches_AreCounted(t *testing.T) {
	r := start(t)
	batches(r, 3, joined())
	r.edit(func() error {
		return r.Update(r.Event("01.00"), "status", "completed", "ok", "8", "failed", "2", "msg", "WithError")
	})
	r.edit(func() error { return r.Update(r.Event("02.00"), "ok", "1") })
	var got []string
	for e := range r.Batches() {
		branches, ok, failed := e.Branches()
		got = append(got, fmt.Sprint(e.ID(), e.IsBatch(), branches, ok, failed))
	}
	if want := "[01.00true 10 8 2 02.00true 10 1 0 03.00true 10 0 0]"; fmt.Sprint(got) != want {
		t.Errorf("Batches() = %v, want %s", got, want)
	}
	sum := r.Summary()
	if sum.Batches != 3 || sum.BatchesDone != 1 || sum.OK != 9 || sum.Failed != 2 {
		t.Errorf("Summary() = %+v, want 1 of 3 batches done", sum)
	}
	if parsed, ok := eventstream.ParseSummary(sum.Metadata()); !ok || parsed.Batches != 3 || parsed.BatchesDone != 1 {
		t.Errorf("ParseSummary() = %+v, %v", parsed, ok)
	}
	meta := sum.Metadata()
	meta["batches"] = "many"
	if _, ok := eventstream.ParseSummary(meta); ok {
		t.Error("ParseSummary() takes batches that are no count")
	}
}

func TestReopen_CountsForBatches(t *testing.T) {
	r := start(t)
	batches(r, 2, joined())
	fail := func() {
		r.edit(func() error { return r.Update(r.Event("01.00"), "status", "completed", "ok", "8", "failed", "2") })
	}
	fail()
	r.complete("02.00")
	for n := 1; n <= 2; n++ {
		r.edit(func() error {
			_, err := r.Reopen(&eventstream.ReopenOptions{Input: eventstream.JSON([]byte("7"))})
			return err
		})
		e := r.Event("01.00")
		if _, ok, failed := e.Branches(); e.Reopened() != n || e.Status() != eventstream.Init || ok+failed > 0 {
			t.Errorf("after retry %d event 01.00 is %s", n, e.XML())
		}
		if input, _ := e.Input(); string(input.JSON) != "[]" {
			t.Errorf("after the retry the message is %s, want that of the batch", input.JSON)
		}
		fail()
	}
	if got := r.Event("02.00").Reopened(); got != 0 {
		t.Errorf("Reopened() of what did not fail = %d", got)
	}
}

func TestPolicy_Decides(t *testing.T) {
	for _, test := range []struct {
		policy               string
		branches, ok, failed int
		want                 bool
	}{
		{"all", 10, 3, 7, false},
		{"failfast", 10, 3, 0, false},
		{"failfast", 10, 3, 1, true},
		{"first:3", 10, 2, 7, false},
		{"first:3", 10, 3, 0, true},
		{"first:3", 10, 0, 8, true},
		{"tolerate:20%", 10, 0, 2, false},
		{"tolerate:20%", 10, 0, 3, true},
	} {
		p, err := eventstream.ParsePolicy(test.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decides(test.branches, test.ok, test.failed); got != test.want {
			t.Errorf("%v.Decides(%d, %d, %d) = %v, want %v", p, test.branches, test.ok, test.failed, got, test.want)
		}
	}
}

func TestIsPaused(t *testing.T) {
	r := start(t)
	batches(r, 2, joined())
	paused := func() string { return fmt.Sprint(r.IsPaused(r.Event("01.00")), r.IsPaused(r.Event("02.00"))) }
	r.edit(func() error { return r.Pause(r.Event("01.00"), "", "") })
	if got := paused(); got != "true false" {
		t.Errorf("with one paused, IsPaused() = %s", got)
	}
	r.edit(func() error { return r.Pause(r.Root(), "", "") })
	if got := paused(); got != "true true" {
		t.Errorf("below a paused event, IsPaused() = %s", got)
	}
}
