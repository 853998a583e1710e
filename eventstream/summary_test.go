package eventstream_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func TestSummary(t *testing.T) {
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "n", Run: "r1", Pipeline: "p q&=", Definition: "sha256:d", InputHash: "sha256:i", Deadline: epoch.Add(time.Hour),
		Attrs: []string{"tag", "x"}, Root: eventstream.NewEvent{Name: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t, s, epoch}
	r.split("00", 6, &eventstream.SplitOptions{Join: "J"})
	r.complete("01.00", "02.00")
	r.abort("03.00")
	r.edit(func() error { return r.Claim(r.Event("04.00"), "w", "timeout", "1m") })
	r.edit(func() error { return r.Update(r.Event("06.00"), "due", "2027-01-01T00:00:00Z") })
	r.edit(func() error { return r.SetLimit("B", 3, "ann") })
	want := eventstream.Summary{
		Run: "r1", Pipeline: "p q&=", Definition: "sha256:d", Input: "sha256:i", Status: eventstream.Inprocess,
		Done: 3, Total: 7, OK: 2, Failed: 1, Ready: map[string]int{"B": 1}, Running: map[string]int{"B": 1}, Limits: map[string]int{"B": 3},
		Due: r.Event("04.00").Time("started").Add(time.Minute), Deadline: epoch.Add(time.Hour), Created: epoch, Updated: r.now,
	}
	if got := r.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("Summary() = %+v, want %+v", got, want)
	}
	if got, ok := eventstream.ParseSummary(want.Metadata()); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("ParseSummary = %+v, %v, want %+v", got, ok, want)
	}
	r.edit(func() error { return r.Pause(nil, "", "") })
	r.edit(func() error { return r.Cancel(r.Root(), "", "") })
	sum := r.Summary()
	if got, ok := eventstream.ParseSummary(sum.Metadata()); !ok || !reflect.DeepEqual(got, sum) || !got.Paused || !got.Status.Final() || len(got.SortedTopics()) > 0 {
		t.Errorf("ParseSummary = %+v, %v, want %+v", got, ok, sum)
	}
}

// TestSummary_LastSplit has the counts of the last split of the root thread.
func TestSummary_LastSplit(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.complete("01.00", "02.00")
	r.split("01", 3, joined())
	r.abort("03.00")
	if got := r.Summary(); got.OK != 0 || got.Failed != 1 {
		t.Errorf("Summary() has ok %d, failed %d, want 0, 1", got.OK, got.Failed)
	}
	r.complete("04.00", "05.00")
	r.edit(func() error { _, err := r.Next(r.Event("02"), eventstream.NewEvent{Name: "N"}); return err })
	if got := r.Summary(); got.OK != 2 || got.Failed != 1 {
		t.Errorf("Summary() has ok %d, failed %d, want 2, 1", got.OK, got.Failed)
	}
}

// TestSummary_TooManyTopics keeps the metadata small; what does not fit is
// unknown, not absent.
func TestSummary_TooManyTopics(t *testing.T) {
	r := start(t)
	var branches []eventstream.NewEvent
	for i := range 100 {
		branches = append(branches, eventstream.NewEvent{Name: fmt.Sprintf("%d-%s", i, strings.Repeat("x", 30))})
	}
	r.edit(func() error { _, err := r.Split(r.Root(), branches, nil); return err })
	meta := r.Summary().Metadata()
	size := 0
	for name, value := range meta {
		size += len(name) + len(value)
	}
	if size > 4<<10 {
		t.Errorf("the metadata have %d bytes", size)
	}
	if got, ok := eventstream.ParseSummary(meta); !ok || got.Ready != nil || got.Running == nil {
		t.Errorf("ParseSummary = %+v, %v, want ready unknown and running empty", got, ok)
	}
}

func TestParseSummary_NotOurs(t *testing.T) {
	good := start(t).Summary().Metadata()
	for _, name := range []string{"status", "progress", "ok", "failed"} {
		meta := maps.Clone(good)
		meta[name] = "x"
		if got, ok := eventstream.ParseSummary(meta); ok {
			t.Errorf("ParseSummary with %s x = %+v, want none", name, got)
		}
		delete(meta, name)
		if got, ok := eventstream.ParseSummary(meta); ok {
			t.Errorf("ParseSummary without %s = %+v, want none", name, got)
		}
	}
	for _, name := range []string{"ready", "running"} {
		meta := maps.Clone(good)
		meta[name] = "a=%zz"
		got, ok := eventstream.ParseSummary(meta)
		if counts := map[string]map[string]int{"ready": got.Ready, "running": got.Running}[name]; !ok || counts != nil {
			t.Errorf("ParseSummary with %s unreadable = %+v, %v", name, got, ok)
		}
	}
	if _, ok := eventstream.ParseSummary(nil); ok {
		t.Error("ParseSummary of nothing is whole")
	}
}

func TestStream_RootElsewhere(t *testing.T) {
	r := parse(t, `<EventStream name="n"><Event id="01.00" prev="00" status="init" name="B"/><Event id="00" status="inprocess" next="01.00"/></EventStream>`)
	if r.Root().ID() != "00" || r.At(0).ID() != "01.00" || r.Name() != "n" || r.String() != `event-stream "n" with 2 events` {
		t.Errorf("Root() = %s in %v", r.Root().ID(), r.Stream)
	}
	if changes := r.edit(func() error { return r.Complete(r.Event("01.00"), nil) }); !changes.Ended {
		t.Errorf("Changes = %+v, want ended", changes)
	}
	// A document of an article's loop: events in no thread of their own.
	r = parse(t, `<EventStream><Event id="01" status="init"/><Event id="02" status="init"/></EventStream>`)
	if r.Root().ID() != "01" || len(slices.Collect(r.ByStatus(eventstream.Init))) != 2 {
		t.Errorf("Root() = %s", r.Root().ID())
	}
	// A foreign hand has superseded the root.
	r = parse(t, `<EventStream><Event id="00" status="completed" superseded="x"/></EventStream>`)
	if status, _ := r.Status(); status != eventstream.Completed || r.Last() != r.Root() {
		t.Errorf("Status() = %v, Last() = %v", status, r.Last())
	}
}

func TestValidate(t *testing.T) {
	if got := start(t).Validate(); len(got) > 0 {
		t.Errorf("Validate() of a new stream = %v", got)
	}
	for want, events := range map[string]string{
		"the stream has no event":   "",
		`event 00: attribute due`:   `<Event id="00" status="init" due="soon"/>`,
		"event 00: attribute timeo": `<Event id="00" status="init" timeout="x"/>`,
		"event 00: attribute attem": `<Event id="00" status="init" attempt="-1"/>`,
		"event 01: it has no prev":  `<Event id="00" status="init"/><Event id="01" status="init"/>`,
		"event 01: it is not in th": `<Event id="00" status="init"/><Event id="01" status="init" prev="00"/>`,
		"event 02.00: its thread i": `<Event id="01.00" status="inprocess" next="02.00"/><Event id="02.00" status="init" prev="01.00"/>`,
		"event 00: more of its bra": `<Event id="00" status="init" branches="2" ok="1" failed="2"/>`,
	} {
		problems := parse(t, "<EventStream>"+events+"</EventStream>").Validate()
		if !slices.ContainsFunc(problems, func(p eventstream.Problem) bool { return strings.HasPrefix(p.String(), want) }) {
			t.Errorf("Validate() of %s = %v, want %s…", events, problems, want)
		}
	}
}
