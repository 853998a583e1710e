package eventstream_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// TestCancel_Everywhere cancels and aborts an event in each state it can be in.
func TestCancel_Everywhere(t *testing.T) {
	open := func(t *testing.T) *run {
		r := start(t)
		r.split("00", 5, joined())
		r.edit(func() error { return r.Claim(r.Event("02.00"), "w") })
		r.edit(func() error { return r.Wait(r.Event("03.00"), 0) })
		r.split("04.00", 2, joined())
		r.edit(func() error { return r.Claim(r.Event("04.01.00"), "w") })
		r.complete("05.00")
		return r
	}
	tests := []struct {
		name, id string
		below    []string // what is canceled with it
	}{
		{"init", "01.00", nil},
		{"running", "02.00", nil},
		{"waiting", "03.00", nil},
		{"a splitter", "04.00", []string{"04.01.00", "04.02.00"}},
		{"the root", "00", []string{"01.00", "02.00", "03.00", "04.00", "04.01.00", "04.02.00"}},
	}
	for _, test := range tests {
		for _, status := range []string{"canceled", "aborted"} {
			t.Run(test.name+" "+status, func(t *testing.T) {
				r := open(t)
				stop, other := r.Cancel, r.Abort
				if status == "aborted" {
					stop, other = other, stop
				}
				changes := r.edit(func() error { return stop(r.Event(test.id), "alice", "because") })
				r.statuses(test.id, status, "05.00", "completed")
				for _, id := range test.below {
					r.statuses(id, "canceled")
					if by := r.Event(id).Attr("by"); by != "alice" {
						t.Errorf("by of %s = %q, want alice", id, by)
					}
				}
				if e := r.Event(test.id); e.Attr("by") != "alice" || e.Msg() != "because" {
					t.Errorf("%s does not say by whom and why", e.XML())
				}
				if !changes.Steered || changes.Changed != 1+len(test.below) || changes.Ended != (test.id == "00") {
					t.Errorf("Changes = %+v", changes)
				}
				r.edit(func() error { return stop(r.Event(test.id), "bob", "again") }) // no error, no change
				if got := r.Event(test.id).Attr("by"); got != "alice" {
					t.Errorf("by = %q after the second time", got)
				}
				r.refused(eventstream.ErrFinal, func() error { return other(r.Event(test.id), "bob", "") })
			})
		}
	}
}

func TestCancel_LastBranchMakesTheJoin(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.complete("01.00")
	changes := r.edit(func() error { return r.Cancel(r.Event("02.00"), "", "") })
	r.statuses("01", "init")
	if len(changes.Created) != 1 {
		t.Errorf("Changes = %+v, want the join created", changes)
	}
	if got := r.Event("02.00"); got.Attr("by") != "" || got.Msg() != "" {
		t.Errorf("canceled by nobody: %s", got.XML())
	}
}

func TestCancel_RefusedReason(t *testing.T) {
	r := start(t)
	r.refused(eventstream.ErrValue, func() error { return r.Cancel(r.Root(), "\x00", "") })
	r.refused(eventstream.ErrValue, func() error { return r.Abort(r.Root(), "", "\xff") })
	r.refused(eventstream.ErrValue, func() error { return r.Pause(r.Root(), "", "\xff") })
	r.refused(eventstream.ErrValue, func() error { return r.Pause(nil, "\xff", "") })
}

func TestPause_Run(t *testing.T) {
	r := start(t)
	r.split("00", 3, &eventstream.SplitOptions{Join: "J", Due: epoch.Add(time.Hour)})
	r.edit(func() error { return r.SetAttrs("deadline", eventstream.FormatTime(epoch.Add(2*time.Hour))) })
	r.edit(func() error { return r.Claim(r.Event("01.00"), "w", "timeout", "10m") })
	r.edit(func() error { return r.Wait(r.Event("02.00"), 10*time.Minute) })
	waitUntil := r.now.Add(10 * time.Minute)
	changes := r.edit(func() error { return r.Pause(nil, "alice", "lunch") })
	since := r.now
	if !changes.Steered || r.Attr("by") != "alice" || r.Attr("msg") != "lunch" || !r.Summary().Paused {
		t.Errorf("paused: %+v, by %q, msg %q", changes, r.Attr("by"), r.Attr("msg"))
	}
	if got := claimable(r, r.now, 0); got != nil {
		t.Errorf("Claimable in a pause = %v", got)
	}
	r.refused(eventstream.ErrNotClaimable, func() error { return r.Claim(r.Event("03.00"), "w") })
	// Only the handler's clock goes on.
	if got, want := r.NextWake(), r.Event("01.00").Time("started").Add(10*time.Minute); !got.Equal(want) {
		t.Errorf("NextWake() in a pause = %v, want %v", got, want)
	}
	for e := range r.Woken(epoch.Add(24 * time.Hour)) {
		if e.ID() != "01.00" {
			t.Errorf("event %s is woken in a pause", e.ID())
		}
	}
	if again := r.edit(func() error { return r.Pause(nil, "bob", "") }); again.Changed != 0 {
		t.Errorf("the second pause: %+v", again)
	}
	r.now = since.Add(20*time.Minute - time.Second)
	r.edit(func() error { return r.Resume(nil) })
	pause := 20 * time.Minute
	if r.Attr("paused") != "" || r.Attr("by") != "" || r.Attr("msg") != "" {
		t.Errorf("resumed: %v", r.Bytes())
	}
	if e := r.Event("02.00"); !e.Time("started").Add(e.Timeout()).Equal(waitUntil.Add(pause)) {
		t.Errorf("the waiting event is %s", e.XML())
	}
	if got, want := r.Event("01.00").Timeout(), 10*time.Minute; got != want {
		t.Errorf("the timeout of the handler is %v, want %v", got, want)
	}
	if got, want := r.Root().Time("due"), epoch.Add(time.Hour+pause); !got.Equal(want) {
		t.Errorf("due of the split = %v, want %v", got, want)
	}
	if got, want := r.Summary().Deadline, epoch.Add(2*time.Hour+pause); !got.Equal(want) {
		t.Errorf("deadline = %v, want %v", got, want)
	}
	if again := r.edit(func() error { return r.Resume(nil) }); again.Changed != 0 {
		t.Errorf("the second resume: %+v", again)
	}
	r.abort("00")
	r.refused(eventstream.ErrFinal, func() error { return r.Pause(nil, "", "") })
}

func TestPause_Event(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.split("01.00", 2, joined())
	r.edit(func() error { return r.Pause(r.Event("01.00"), "alice", "") })
	if got := claimable(r, r.now, 0); len(got) != 1 || got[0] != "02.00" {
		t.Errorf("Claimable = %v, want 02.00", got)
	}
	r.edit(func() error { return r.Resume(r.Event("01.00")) })
	if e := r.Event("01.00"); e.Attr("paused") != "" || e.Attr("by") != "" || len(claimable(r, r.now, 0)) != 3 {
		t.Errorf("resumed: %s", e.XML())
	}
	r.complete("02.00")
	r.refused(eventstream.ErrFinal, func() error { return r.Pause(r.Event("02.00"), "", "") })
}

// TestResume_Overlapping: where two pauses held an event, it gets back the time in
// which at least one did.
func TestResume_Overlapping(t *testing.T) {
	for _, order := range []string{"inner first", "outer first"} {
		t.Run(order, func(t *testing.T) {
			r := start(t)
			r.split("00", 1, nil)
			e := r.Event("01.00")
			r.edit(func() error { return r.Wait(e, time.Hour) })
			began := r.now
			at := func(minute int, f func() error) {
				r.now = began.Add(time.Duration(minute)*time.Minute - time.Second)
				r.edit(f)
			}
			inner := func() error { return r.Resume(e) }
			outer := func() error { return r.Resume(nil) }
			if order == "outer first" {
				inner, outer = outer, inner
			}
			at(1, func() error { return r.Pause(e, "", "") })
			at(11, func() error { return r.Pause(nil, "", "") })
			at(21, inner)
			at(31, outer)
			if got, want := e.Timeout(), 90*time.Minute; got != want {
				t.Errorf("Timeout() = %v, want %v", got, want)
			}
		})
	}
}

// TestResume_ClaimedInThePause counts from the later of the pause and the claim.
func TestResume_ClaimedInThePause(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	r.edit(func() error { return r.Pause(nil, "", "") })
	r.now = r.now.Add(time.Minute)
	r.edit(func() error { return r.Update(r.Root(), "started", eventstream.FormatTime(r.now)) })
	started := r.now
	r.edit(func() error { return r.Wait(r.Root(), time.Hour) })
	r.edit(func() error { return r.Resume(nil) })
	if got, want := started.Add(r.Root().Timeout()), r.now.Add(time.Hour-time.Second); got.Before(want) || got.After(want.Add(2*time.Second)) {
		t.Errorf("it waits until %v, want about %v", got, want)
	}
}

// A pause that a foreign hand set without a time begins with the next edit, and so
// its time can be given back.
func TestPause_WithoutATime(t *testing.T) {
	const waiting = `<Event id="00" status="inprocess" started="2026-11-30T07:00:00Z" timeout="1h"%s/>`
	for name, doc := range map[string]string{
		"run":   `<EventStream paused="yes">` + fmt.Sprintf(waiting, "") + `</EventStream>`,
		"event": `<EventStream>` + fmt.Sprintf(waiting, ` paused="true"`) + `</EventStream>`,
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, doc)
			if problems := r.Validate(); len(problems) != 1 {
				t.Errorf("Validate() = %v, want the pause", problems)
			}
			paused := func() string { return r.Attr("paused") + r.Root().Attr("paused") }
			changes := r.edit(func() error { return nil })
			if want := eventstream.FormatTime(r.now); paused() != want || !changes.Steered || changes.Changed != 1 {
				t.Errorf("paused = %q with %+v, want %q", paused(), changes, want)
			}
			top := r.Root()
			if name == "run" {
				top = nil
			}
			r.now = r.now.Add(5 * time.Hour)
			r.edit(func() error { return r.Resume(top) })
			if got := r.Root().Timeout().Round(time.Minute); paused() != "" || got != 6*time.Hour {
				t.Errorf("after a pause of 5 hours paused = %q, timeout %v, want 6h", paused(), got)
			}
		})
	}
}

// What has ended is left as a foreign hand has written it.
func TestPause_WithoutATimeOfWhatHasEnded(t *testing.T) {
	r := parse(t, `<EventStream paused="yes"><Event id="00" status="completed" paused="true"/></EventStream>`)
	if changes := r.edit(func() error { return nil }); changes.Changed != 0 {
		t.Errorf("the document has become %s", r.Bytes())
	}
}
