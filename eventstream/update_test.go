package eventstream_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func TestUpdate_Refused(t *testing.T) {
	r := start(t)
	r.split("00", 2, &eventstream.SplitOptions{Join: "J"})
	r.complete("01.00")
	tests := []struct {
		name  string
		id    string
		pairs []string
		want  error
	}{
		{"id", "00", []string{"id", "01"}, eventstream.ErrReadOnly},
		{"prev", "02.00", []string{"prev", "01.00"}, eventstream.ErrReadOnly},
		{"next", "00", []string{"next", ""}, eventstream.ErrReadOnly},
		{"superseded", "00", []string{"superseded", "x"}, eventstream.ErrReadOnly},
		{"timestamp", "00", []string{"timestamp", "2026-11-30T07:33:52Z"}, eventstream.ErrReadOnly},
		{"status twice", "02.00", []string{"status", "completed", "status", "aborted"}, eventstream.ErrReadOnly},
		{"no such status", "02.00", []string{"status", "done"}, eventstream.ErrStatus},
		{"init of a splitter", "00", []string{"status", "init"}, eventstream.ErrStatus},
		{"another final status", "01.00", []string{"status", "aborted", "tag", "x"}, eventstream.ErrFinal},
		{"open again", "01.00", []string{"status", "init"}, eventstream.ErrFinal},
		{"policy of a final event", "01.00", []string{"policy", "failfast"}, eventstream.ErrFinal},
		{"join of a final event", "01.00", []string{"join", "J"}, eventstream.ErrFinal},
		{"counts of a final event", "01.00", []string{"failed", "1"}, eventstream.ErrFinal},
		{"no value", "00", []string{"tag"}, eventstream.ErrValue},
		{"no value for the status", "00", []string{"tag", "x", "status"}, eventstream.ErrValue},
		{"no name", "00", []string{"", "x"}, eventstream.ErrValue},
		{"name with a space", "00", []string{"a b", "x"}, eventstream.ErrValue},
		{"name that begins with a digit", "00", []string{"1a", "x"}, eventstream.ErrValue},
		{"name with a quote", "00", []string{`a="`, "x"}, eventstream.ErrValue},
		{"NUL", "00", []string{"tag", "a\x00"}, eventstream.ErrValue},
		{"escape character", "00", []string{"tag", "\x1b"}, eventstream.ErrValue},
		{"invalid UTF-8", "00", []string{"tag", "\xff"}, eventstream.ErrValue},
		{"surrogate", "00", []string{"tag", "\xed\xa0\x80"}, eventstream.ErrValue},
		{"noncharacter", "00", []string{"tag", "\uFFFE"}, eventstream.ErrValue},
		{"policy", "00", []string{"policy", "first:0"}, eventstream.ErrPolicy},
		{"time", "00", []string{"due", "soon"}, eventstream.ErrTime},
		{"duration", "00", []string{"timeout", "-1s"}, eventstream.ErrTime},
		{"count", "00", []string{"branches", "many"}, eventstream.ErrValue},
		{"failures", "00", []string{"failures", "-1"}, eventstream.ErrValue},
		{"the second of two", "00", []string{"tag", "x", "ref", "\x00"}, eventstream.ErrValue},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			(&run{t, r.Stream, r.now}).refused(test.want, func() error { return r.Update(r.Event(test.id), test.pairs...) })
		})
	}
	r.refused(eventstream.ErrReadOnly, func() error { return r.Remove(r.Event("00"), "status") })
	r.refused(eventstream.ErrReadOnly, func() error { return r.Remove(r.Event("00"), "attempt") })
	r.refused(eventstream.ErrFinal, func() error { return r.Remove(r.Event("01.00"), "join") })
	r.refused(eventstream.ErrForeign, func() error { return r.Update(nil, "tag", "x") })
	r.refused(eventstream.ErrForeign, func() error { return r.Update(start(t).Root(), "tag", "x") })
	r.refused(eventstream.ErrValue, func() error { return r.SetAttrs("tag", "\x00") })
	r.refused(eventstream.ErrValue, func() error { return r.SetAttrs("tag") })
	r.refused(eventstream.ErrTime, func() error { return r.SetAttrs("deadline", "tomorrow") })
}

func TestUpdate_AttemptOnlyGrows(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Update(r.Root(), "attempt", "7") })
	r.refused(eventstream.ErrReadOnly, func() error { return r.Update(r.Root(), "attempt", "6") })
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	if got := r.Root().Attempt(); got != 8 {
		t.Errorf("Attempt() = %d, want 8", got)
	}
}

func TestUpdate_SameStatusIsNoChange(t *testing.T) {
	r := start(t)
	r.complete("00")
	before := string(r.Bytes())
	changes := r.edit(func() error { return r.Update(r.Root(), "status", "completed") })
	if got := string(r.Bytes()); got != before || changes.Changed != 0 || changes.Ended {
		t.Errorf("the same final status changed the document to\n%s\nfrom\n%s\n%+v", got, before, changes)
	}
	r.edit(func() error { return r.Update(r.Root(), "status", "completed", "msg", "fine") })
	if got := r.Root().Msg(); got != "fine" {
		t.Errorf("Msg() = %q, want fine", got)
	}
}

func TestUpdate_BackToInit(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w", "timeout", "30s") })
	r.edit(func() error { return r.Update(r.Root(), "status", "init") })
	if e := r.Root(); e.Key() != "" || !e.Time("started").IsZero() || e.Attempt() != 1 || e.Status() != eventstream.Init {
		t.Errorf("back in init: %s", e.XML())
	}
}

func TestUpdate_FinalOnASplitterCancelsItsBranches(t *testing.T) {
	for _, status := range []string{"completed", "aborted", "canceled"} {
		t.Run(status, func(t *testing.T) {
			r := start(t)
			r.split("00", 2, &eventstream.SplitOptions{Join: "J"})
			r.split("01.00", 2, nil)
			r.complete("01.01.00")
			changes := r.edit(func() error { return r.Update(r.Root(), "status", status, "by", "alice") })
			r.statuses("00", status, "01.00", "canceled", "01.01.00", "completed", "01.02.00", "canceled", "02.00", "canceled")
			if r.Len() != 5 || !changes.Ended {
				t.Errorf("%d events, want 5: no join is made below what ended; %+v", r.Len(), changes)
			}
			if got := r.Event("01.02.00").Attr("by"); got != "alice" {
				t.Errorf("by = %q, want alice", got)
			}
		})
	}
}

func TestUpdate_NameAndTopic(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Update(r.Root(), "topic", "") })
	if got := r.Root().Topic(); got != "Root" {
		t.Errorf("Topic() = %q, want that of name", got)
	}
	r.edit(func() error { return r.Update(r.Root(), "name", "New") })
	r.edit(func() error { return r.Update(r.Root(), "topic", "Other") })
	sum := r.Summary()
	if sum.Ready["Other"] != 1 || len(sum.Ready) != 1 {
		t.Errorf("Summary().Ready = %v, want Other alone", sum.Ready)
	}
}

// TestStream_TimesNeverGoBack: the clock does, the times that are written do not.
func TestStream_TimesNeverGoBack(t *testing.T) {
	r := start(t)
	back := epoch.Add(-time.Hour)
	edit := func(f func() error) {
		t.Helper()
		if _, err := r.Edit(back, f); err != nil {
			t.Fatal(err)
		}
		r.check()
	}
	notBefore := func(e *eventstream.Event, bound time.Time, names ...string) {
		t.Helper()
		for _, name := range names {
			if got := e.Time(name); got.Before(bound) {
				t.Errorf("%s of event %s is %v, before %v", name, e.ID(), got, bound)
			}
		}
	}
	edit(func() error { return r.Claim(r.Root(), "w") })
	notBefore(r.Root(), epoch, "timestamp", "started")
	edit(func() error {
		_, err := r.Split(r.Root(), make([]eventstream.NewEvent, 2), &eventstream.SplitOptions{Join: "J"})
		return err
	})
	notBefore(r.Event("01.00"), epoch, "created", "timestamp")
	// A foreign hand is ahead of us, and more exact.
	ahead := epoch.Add(time.Minute)
	doc := strings.Replace(string(r.Bytes()), `timestamp="2026-11-30T07:33:51.000Z"`, `timestamp="2026-11-30T07:34:51.0004Z"`, 1)
	r = parse(t, doc)
	edit(func() error { return r.Wait(r.Event("01.00"), time.Second) })
	notBefore(r.Event("01.00"), ahead.Add(400*time.Microsecond), "timestamp", "started")
	edit(func() error { return r.Pause(r.Event("01.00"), "", "") })
	notBefore(r.Event("01.00"), ahead, "paused")
	edit(func() error { _, err := r.Reopen(&eventstream.ReopenOptions{From: r.Root()}); return err })
	notBefore(r.Event("01.00"), ahead, "superseded")
	notBefore(r.Root(), ahead, "timestamp")
}

func TestEdit_Rules(t *testing.T) {
	r := start(t)
	outside := map[string]func() error{
		"Update":   func() error { return r.Update(r.Root(), "tag", "x") },
		"Remove":   func() error { return r.Remove(r.Root(), "tag") },
		"SetAttrs": func() error { return r.SetAttrs("tag", "x") },
		"Complete": func() error { return r.Complete(r.Root(), nil) },
		"Cancel":   func() error { return r.Cancel(r.Root(), "", "") },
		"Claim":    func() error { return r.Claim(r.Root(), "w") },
		"Pause":    func() error { return r.Pause(nil, "", "") },
		"Resume":   func() error { return r.Resume(nil) },
		"Reopen":   func() error { _, err := r.Reopen(nil); return err },
		"Next":     func() error { _, err := r.Next(r.Root(), eventstream.NewEvent{}); return err },
		"Split":    func() error { _, err := r.Split(r.Root(), nil, nil); return err },
		"AppendRoot": func() error {
			_, err := r.AppendRoot(eventstream.NewEvent{})
			return err
		},
	}
	for name, f := range outside {
		if err := f(); !errors.Is(err, eventstream.ErrNoEdit) {
			t.Errorf("%s outside of Edit = %v, want ErrNoEdit", name, err)
		}
	}
	_, err := r.Edit(epoch, func() error {
		_, err := r.Edit(epoch, func() error { return nil })
		if err == nil {
			t.Error("an edit inside an edit is let through")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEdit_RolledBackEventsAreForeign(t *testing.T) {
	r := start(t)
	var kept *eventstream.Event
	fails := errors.New("fails")
	if _, err := r.Edit(epoch, func() error {
		kept, _ = r.Next(r.Root(), eventstream.NewEvent{Name: "N"})
		return fails
	}); !errors.Is(err, fails) {
		t.Fatal(err)
	}
	r.refused(eventstream.ErrForeign, func() error { return r.Update(kept, "tag", "x") })
}

func TestEdit_TooLarge(t *testing.T) {
	r := start(t)
	real := r.Size()
	r.Pretend(eventstream.MaxBytes - 10)
	_, err := r.Edit(epoch, func() error { return r.Update(r.Root(), "tag", "more than ten bytes") })
	if !errors.Is(err, eventstream.ErrTooLarge) {
		t.Errorf("Edit = %v, want ErrTooLarge", err)
	}
	r.Pretend(real)
	r.check()
	if got := r.Root().Attr("tag"); got != "" {
		t.Errorf("tag = %q after the edit was undone", got)
	}
}

// TestEdit_Settles has documents that a foreign hand has left in a state which
// no edit of ours leaves.
func TestEdit_Settles(t *testing.T) {
	tests := []struct {
		name, events string
		want         []string // ids and statuses
		created      int
		ended        bool
	}{
		{
			"the last branch was completed by hand",
			`<Event id="00" status="inprocess" next="01.00|02.00" join="J"/><Event id="01.00" prev="00" status="completed"/><Event id="02.00" prev="00" status="completed"/>`,
			[]string{"00", "inprocess", "01", "init"}, 1, false,
		},
		{
			"no join: up to the root, with error",
			`<Event id="00" status="inprocess" next="01.00"/><Event id="01.00" prev="00" status="inprocess" next="01.01"/><Event id="01.01" prev="01.00" status="aborted"/>`,
			[]string{"00", "completed with error", "01.00", "completed with error"}, 0, true,
		},
		{
			"the run was canceled by hand",
			`<Event id="00" status="canceled" next="01.00"/><Event id="01.00" prev="00" status="inprocess" next="01.01.00" join="J"/><Event id="01.01.00" prev="01.00" status="init"/>`,
			[]string{"00", "canceled", "01.00", "canceled", "01.01.00", "canceled"}, 0, false,
		},
		{
			"a policy was written in by hand",
			`<Event id="00" status="inprocess" next="01.00|02.00" policy="failfast"/><Event id="01.00" prev="00" status="aborted"/><Event id="02.00" prev="00" status="inprocess" key="w"/>`,
			[]string{"00", "aborted", "02.00", "canceled"}, 0, true,
		},
		{
			"an event that its prev does not know, below a final one",
			`<Event id="00" status="completed"/><Event id="01" prev="00" status="init"/>`,
			[]string{"01", "canceled"}, 0, false,
		},
		{
			"an event below a superseded one",
			`<Event id="00" status="inprocess" next="02.00"/><Event id="01.00" prev="00" status="canceled" superseded="2026-11-30T07:33:51Z"/>` +
				`<Event id="01.01" prev="01.00" status="init"/><Event id="02.00" prev="00" status="init"/>`,
			[]string{"00", "inprocess", "01.01", "canceled", "02.00", "init"}, 0, false,
		},
		{
			"init, although it has handed on",
			`<Event id="00" status="init" next="01" due="2030-01-01T00:00:00Z"/><Event id="01" prev="00" status="init"/>`,
			[]string{"00", "inprocess", "01", "init"}, 0, false,
		},
		{
			"no step number left for the join",
			`<Event id="00" status="inprocess" next="01.00" join="J"/><Event id="01.00" prev="00" status="completed"/><Event id="999999999" status="completed"/>`,
			[]string{"00", "aborted"}, 0, true,
		},
		{
			"the events in another order",
			`<Event id="01.01.00" prev="01.00" status="aborted"/><Event id="01.00" prev="00" status="inprocess" next="01.01.00"/><Event id="00" status="inprocess" next="01.00" join="J"/>`,
			[]string{"01.00", "completed with error", "00", "inprocess", "01", "init"}, 1, false,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := parse(t, "<EventStream>"+test.events+"</EventStream>")
			if len(r.Validate()) == 0 {
				t.Error("Validate() has nothing to say")
			}
			for e := range r.Claimable(epoch, 0) {
				if status, id := test.want[1], test.want[0]; id == e.ID() && status == "canceled" {
					t.Errorf("event %s is claimable before it is settled", id)
				}
			}
			fails := errors.New("fails")
			if _, err := r.Edit(r.now, func() error { return fails }); !errors.Is(err, fails) {
				t.Fatal(err)
			}
			r.statuses(test.want...) // it stays settled although the edit failed
			changes := r.edit(func() error { return nil })
			r.statuses(test.want...)
			if len(changes.Created) != test.created || changes.Ended != test.ended || changes.Changed == 0 {
				t.Errorf("Changes = %+v, want %d created, ended %v", changes, test.created, test.ended)
			}
			if again := r.edit(func() error { return nil }); again.Changed != 0 || len(again.Created) > 0 {
				t.Errorf("the edit after it has Changes %+v, want none", again)
			}
		})
	}
}
