package eventstream_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

func TestSetLimit(t *testing.T) {
	r := start(t)
	if got := r.Limits(); len(got) != 0 {
		t.Errorf("Limits() of a new stream = %v, want none", got)
	}
	changes := r.edit(func() error { return r.SetLimit("Work", 4, "ann") })
	if !changes.Steered || changes.Changed != 1 {
		t.Errorf("Changes of a limit = %+v, want steered", changes)
	}
	r.edit(func() error { return r.SetLimit("A&=b", 7, "") })
	r.edit(func() error { return r.SetLimit("Work", 0, "eve") })
	if got, want := r.Limits(), (map[string]int{"A&=b": 7, "Work": 0}); !maps.Equal(got, want) {
		t.Errorf("Limits() = %v, want %v", got, want)
	}
	if got, want := r.Attr("limits"), "A%26%3Db=7&Work=0"; got != want {
		t.Errorf("limits = %q, want %q", got, want)
	}
	if got := r.Attr("limitsBy"); got != "eve" {
		t.Errorf("limitsBy = %q, want who changed it last", got)
	}
	if changes := r.edit(func() error { return r.SetLimit("Work", 0, "bob") }); changes.Changed != 0 {
		t.Errorf("the same limit again changed something: %+v", changes)
	}
	again := parse(t, string(r.Bytes()))
	if got := again.Limits(); !maps.Equal(got, r.Limits()) {
		t.Errorf("Limits() of the document = %v, want %v", got, r.Limits())
	}
}

func TestSetLimit_Refused(t *testing.T) {
	r := start(t)
	r.refused(eventstream.ErrValue, func() error { return r.SetLimit("A", -1, "") })
	r.refused(eventstream.ErrValue, func() error { return r.SetLimit("", 1, "") })
	r.refused(eventstream.ErrValue, func() error { return r.SetLimit("A", 1, "\x00") })
	for _, bad := range []string{"A=x", "A=-1", "A", "=1", "A=%zz"} {
		r.refused(eventstream.ErrValue, func() error { return r.SetAttrs("limits", bad) })
	}
	if err := r.SetLimit("A", 1, ""); err != eventstream.ErrNoEdit {
		t.Errorf("SetLimit outside of an edit = %v, want ErrNoEdit", err)
	}
	r.complete("00")
	r.refused(eventstream.ErrFinal, func() error { return r.SetLimit("A", 1, "") })
}

// What a foreign hand wrote does not get in the way of the rest.
func TestLimits_OfAForeignHand(t *testing.T) {
	r := parse(t, `<EventStream limits="A=2&amp;B=many&amp;C=-1&amp;D=%zz"><Event id="00" name="A" status="init"/></EventStream>`)
	if got, want := r.Limits(), (map[string]int{"A": 2}); !maps.Equal(got, want) {
		t.Errorf("Limits() = %v, want %v", got, want)
	}
	if got := r.Validate(); len(got) != 1 || !strings.Contains(got[0].String(), "limits") {
		t.Errorf("Validate() = %v, want the limits", got)
	}
	r.edit(func() error { return r.SetLimit("E", 1, "") })
	if got, want := r.Attr("limits"), "A=2&E=1"; got != want {
		t.Errorf("limits = %q, want %q", got, want)
	}
}

func TestRunning(t *testing.T) {
	r := start(t)
	r.split("00", 3, joined())
	want := func(n int) {
		t.Helper()
		if got := r.Running("B"); got != n {
			t.Errorf("Running(B) = %d, want %d", got, n)
		}
	}
	want(0)
	r.edit(func() error { return r.Claim(r.Event("01.00"), "w") })
	r.edit(func() error { return r.Claim(r.Event("02.00"), "w") })
	want(2)
	r.complete("01.00")
	want(1)
	r.edit(func() error { return r.Wait(r.Event("02.00"), 0) })
	want(0)
	if got := r.Running("nothing"); got != 0 {
		t.Errorf("Running of an unknown step = %d, want 0", got)
	}
}

// Limits that do not fit into the metadata are unknown, not absent.
func TestSummary_TooManyLimits(t *testing.T) {
	r := start(t)
	for i := range 20 {
		r.edit(func() error { return r.SetLimit(fmt.Sprintf("%d-%s", i, strings.Repeat("x", 60)), 1, "") })
	}
	if got, ok := eventstream.ParseSummary(r.Summary().Metadata()); !ok || got.Limits != nil {
		t.Errorf("ParseSummary = %+v, %v, want limits unknown", got, ok)
	}
}
