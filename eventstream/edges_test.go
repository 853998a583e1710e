package eventstream_test

import (
	"errors"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

func TestNew_Refused(t *testing.T) {
	for name, start := range map[string]eventstream.Start{
		"a value":        {Name: "\x00"},
		"an attribute":   {Attrs: []string{"a b", "x"}},
		"an odd number":  {Attrs: []string{"a"}},
		"the root event": {Root: eventstream.NewEvent{Name: "\xff"}},
	} {
		if s, err := eventstream.New(epoch, start); !errors.Is(err, eventstream.ErrValue) || s != nil {
			t.Errorf("New with %s refused = %v, %v, want ErrValue", name, s, err)
		}
	}
}

// TestNewEvent_AttrsWin over what would be written by itself.
func TestNewEvent_AttrsWin(t *testing.T) {
	r := start(t)
	r.edit(func() error {
		_, err := r.Next(r.Root(), eventstream.NewEvent{Name: "N", Attrs: []string{"topic", "T", "created", "2013-06-09T08:15:00Z", "ref", "x"}})
		return err
	})
	if e := r.Event("01"); e.Topic() != "T" || e.Attr("created") != "2013-06-09T08:15:00Z" || e.Attr("ref") != "x" || r.Summary().Ready["T"] != 1 {
		t.Errorf("the new event is %s", e.XML())
	}
}

// TestPropagate_LosesWithError: an event that carried it from before completes
// well.
func TestPropagate_LosesWithError(t *testing.T) {
	r := start(t)
	r.split("00", 1, nil)
	r.edit(func() error { return r.Update(r.Root(), "msg", "WithError") })
	r.complete("01.00")
	r.statuses("00", "completed")
	if _, ok := r.Root().LookupAttr("msg"); ok {
		t.Errorf("the splitter is %s", r.Root().XML())
	}
	// A msg of another kind is the user's.
	r = start(t)
	r.split("00", 1, nil)
	r.edit(func() error { return r.Update(r.Root(), "msg", "mine") })
	r.complete("01.00")
	if got := r.Root().Msg(); got != "mine" {
		t.Errorf("Msg() = %q, want mine", got)
	}
}

// TestPropagate_WithErrorByHand: what a user marks so, counts above it.
func TestPropagate_WithErrorByHand(t *testing.T) {
	r := start(t)
	r.split("00", 2, nil)
	r.edit(func() error { return r.Update(r.Event("01.00"), "msg", "WithError", "status", "completed") })
	r.complete("02.00")
	r.statuses("00", "completed with error")
	r = parse(t, `<EventStream><Event id="00" status="inprocess" next="01.00|02.00"/><Event id="01.00" status="completed" prev="00" msg="With&#69;rror"/>`+
		`<Event id="02.00" status="init" prev="00" msg="&amp;"/></EventStream>`)
	r.complete("02.00")
	r.statuses("00", "completed with error")
}

// TestPropagate_SuccessorThatNobodyKnows: an event that is not in the next of its
// prev does not end it.
func TestPropagate_SuccessorThatNobodyKnows(t *testing.T) {
	r := parse(t, `<EventStream><Event id="00" status="inprocess" key="w" policy="first:1"/><Event id="01" status="init" prev="00"/></EventStream>`)
	r.complete("01")
	r.statuses("00", "inprocess")
	r.refused(eventstream.ErrNothingToReopen, func() error {
		_, err := r.Reopen(from(r, "01"))
		return err
	})
}

// TestReopen_ForeignNumbers supersedes events whose steps a foreign hand numbered.
func TestReopen_ForeignNumbers(t *testing.T) {
	r := parse(t, `<EventStream><Event id="00" status="inprocess" next="05.07|06.00" join="J"/>`+
		`<Event id="05.07" prev="00" status="inprocess" next="05.03"/><Event id="05.03" prev="05.07" status="inprocess" next="05.01"/>`+
		`<Event id="05.01" prev="05.03" status="init"/><Event id="06.00" prev="00" status="completed"/></EventStream>`)
	if got := r.ThreadLast("05"); got.ID() != "05.07" {
		t.Errorf("ThreadLast(05) = %s", got.ID())
	}
	r.retry(from(r, "05.03"), "05.03")
	r.statuses("05.01", "superseded canceled", "05.07", "inprocess")
	r.retry(from(r, "05.07"), "05.07")
	r.statuses("05.03", "superseded canceled")
	r.complete("05.07")
	r.statuses("00", "inprocess", "01", "init")
}

// TestStream_LoopsEnd when the body says so.
func TestStream_LoopsEnd(t *testing.T) {
	r := start(t)
	r.split("00", 3, nil)
	for _, id := range []string{"01.00", "02.00", "03.00"} {
		r.edit(func() error { return r.Update(r.Event(id), "due", "2013-06-09T08:15:00Z") })
	}
	r.edit(func() error { _, err := r.Reopen(from(r, "00")); return err })
	r.split("00", 3, nil)
	for _, id := range []string{"04.00", "05.00", "06.00"} {
		r.edit(func() error { return r.Update(r.Event(id), "due", "2013-06-09T08:15:00Z") })
	}
	loops := map[string]func(func(*eventstream.Event) bool){
		"Events": r.Events(), "Next": r.Root().Next(), "ByStatus": r.ByStatus(eventstream.Init), "Claimable": r.Claimable(r.now, 0),
		"Claimable from": r.Claimable(r.now, 6), "Woken": r.Woken(r.now), "Replaced": r.Replaced(),
	}
	for name, loop := range loops {
		n := 0
		for range loop {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s yields %d events, want 1 and more", name, n)
		}
	}
	for range r.Root().Attrs() {
		break
	}
	if got := claimable(r, r.now, 6); len(got) != 3 || got[0] != "06.00" {
		t.Errorf("Claimable from 6 = %v", got)
	}
}

func TestSteer_Refused(t *testing.T) {
	r := start(t)
	r.split("00", 1, nil)
	r.refused(eventstream.ErrValue, func() error { return r.CloseSplit(r.Root(), "\x00") })
	r.edit(func() error { return r.Pause(r.Root(), "alice", "") })
	r.edit(func() error { return r.Pause(r.Root(), "bob", "") })
	if got := r.Root().Attr("by"); got != "alice" {
		t.Errorf("by = %q after the second pause", got)
	}
	// A pause that is written in with Update is told to the workers, too.
	if changes := r.edit(func() error { return r.Update(r.Event("01.00"), "paused", "2013-06-09T08:15:00Z") }); !changes.Steered {
		t.Errorf("Changes = %+v, want steered", changes)
	}
	r.edit(func() error { return r.Cancel(r.Root(), "", "") })
	if e, err := r.Owned("01.00", "w", 1); e != nil || !errors.Is(err, eventstream.ErrFinal) {
		t.Errorf("Owned = %v, %v", e, err)
	}
	superseded := start(t)
	superseded.split("00", 1, nil)
	superseded.edit(func() error { _, err := superseded.Reopen(from(superseded, "00")); return err })
	if e, err := superseded.Owned("01.00", "w", 1); e != nil || !errors.Is(err, eventstream.ErrSuperseded) {
		t.Errorf("Owned of a superseded event = %v, %v", e, err)
	}
}

// TestEdit_Panic undoes the edit and lets the panic through.
func TestEdit_Panic(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	before, dump := string(r.Bytes()), r.Dump()
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recover() = %v, want boom", got)
			}
		}()
		r.Edit(r.now, func() error {
			if err := r.Abort(r.Root(), "", ""); err != nil {
				return err
			}
			if _, err := r.Reopen(nil); err != nil {
				return err
			}
			if _, err := r.Next(r.Event("01.00"), eventstream.NewEvent{Name: "N"}); err != nil {
				return err
			}
			if err := r.SetAttrs("tag", "x"); err != nil {
				return err
			}
			panic("boom")
		})
	}()
	if got := string(r.Bytes()); got != before {
		t.Errorf("the document is\n%s\nwant\n%s", got, before)
	}
	if got := r.Dump(); got != dump {
		t.Errorf("the indexes are\n%s\nwant\n%s", got, dump)
	}
	r.complete("01.00", "02.00") // edits go on
}
