package eventstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// reload hands a stream a later text of its document and compares the outcome with
// that of reading it: what is returned, and what edits then make of it.
func reload(t *testing.T, s *eventstream.Stream, text []byte) (result *eventstream.Stream, followed bool) {
	t.Helper()
	return reloadPieces(t, s, []string{string(text)})
}

func reloadPieces(t *testing.T, s *eventstream.Stream, pieces []string) (result *eventstream.Stream, followed bool) {
	t.Helper()
	text := []byte(strings.Join(pieces, ""))
	want, wantErr := eventstream.Parse(text)
	before := s.Dump()
	got, err := s.ReloadPieces(pieces)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("Reload = %v, want %v\n%s", err, wantErr, text)
	}
	if got != s && s.Dump() != before {
		t.Fatalf("Reload of what does not follow left\n%s\nwant\n%s", s.Dump(), before)
	}
	if err != nil {
		return nil, false
	}
	sameStreams(t, got, want)
	for seed := range uint64(4) {
		for _, s := range []*eventstream.Stream{got, want} {
			_, _ = s.Edit(epoch, func() error { scribble(s, seed); return errWanted })
		}
		sameStreams(t, got, want)
	}
	return got, got == s
}

func sameStreams(t *testing.T, got, want *eventstream.Stream) {
	t.Helper()
	if got, want := got.Dump(), want.Dump(); got != want {
		t.Fatalf("the indexes are\n%s\nwant\n%s", got, want)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("Bytes() =\n%s\nwant\n%s", got.Bytes(), want.Bytes())
	}
	if got, want := got.Summary(), want.Summary(); !reflect.DeepEqual(got, want) {
		t.Fatalf("Summary() = %+v, want %+v", got, want)
	}
}

// scribble does random operations, of which some are refused.
func scribble(s *eventstream.Stream, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range 1 + r.IntN(4) {
		if s.Len() == 0 {
			_, _ = s.AppendRoot(eventstream.NewEvent{Name: "A"})
			continue
		}
		operation(s, s.At(r.IntN(s.Len())), r.IntN(16))
	}
}

func operation(s *eventstream.Stream, e *eventstream.Event, kind int) {
	switch kind {
	case 0, 1:
		_ = s.Claim(e, "w")
	case 2, 3:
		_ = s.Complete(e, eventstream.JSON([]byte(`"<ü>"`)))
	case 4:
		_ = s.Fail(e, eventstream.Attempt{N: 1, Error: "e"})
	case 5:
		_ = s.GiveBack(e, epoch.Add(time.Hour))
	case 6:
		_, _ = s.Next(e, eventstream.NewEvent{Name: "N", Topic: "T"})
	case 7, 8:
		_, _ = s.Split(e, make([]eventstream.NewEvent, 3), &eventstream.SplitOptions{Join: "J", Policy: eventstream.Tolerate(1)})
	case 9:
		_, _ = s.Split(e, []eventstream.NewEvent{{Attrs: []string{"branches", "3"}}, {Branch: 7}}, nil)
	case 10:
		_ = s.Cancel(e, "alice", "")
	case 11:
		_ = s.Abort(e, "", "broken")
	case 12:
		_, _ = s.Reopen(&eventstream.ReopenOptions{From: e})
	case 13:
		_ = s.Update(e, "ok", "1", "timeout", "30s", "policy", "failfast")
	case 14:
		_ = s.Wait(e, time.Minute)
	case 15:
		_ = s.SetAttrs("paused", eventstream.FormatTime(epoch), "x", e.ID())
	}
}

// TestReload_Follows goes through what edits of ours do, as another process that
// takes over after each: it must not read the whole document for any of them.
func TestReload_Follows(t *testing.T) {
	r := start(t)
	other := parse(t, string(r.Bytes())).Stream
	event := func(id string) *eventstream.Event { return r.Event(id) }
	for _, step := range []struct {
		name string
		edit func() error
	}{
		{"nothing", func() error { return nil }},
		{"pause", func() error { return r.SetAttrs("paused", eventstream.FormatTime(epoch)) }},
		{"resume", func() error { return r.SetAttrs("paused", "") }},
		{"claim", func() error { return r.Claim(event("00"), "w") }},
		{"split", func() error {
			_, err := r.Split(event("00"), make([]eventstream.NewEvent, 4), &eventstream.SplitOptions{Join: "J"})
			return err
		}},
		{"complete", func() error { return r.Complete(event("01.00"), eventstream.JSON([]byte(`{"a":"<ü>"}`))) }},
		{"fail", func() error { return r.Fail(event("02.00"), eventstream.Attempt{N: 1, Error: "e\nf"}) }},
		{"hand on", func() error { _, err := r.Next(event("02.00"), eventstream.NewEvent{Name: "N"}); return err }},
		{"split below", func() error {
			_, err := r.Split(event("03.00"), []eventstream.NewEvent{{Branch: 7}, {Attrs: []string{"branches", "9"}}}, nil)
			return err
		}},
		{"batch event", func() error { return r.Update(event("03.08.00"), "branches", "12", "ok", "3", "failed", "2") }},
		{"other topic", func() error { return r.Update(event("04.00"), "topic", "T") }},
		{"abort", func() error { return r.Abort(event("03.07.00"), "alice", "no") }},
		{"cancel with what is below", func() error { return r.Cancel(event("03.00"), "alice", "no") }},
		{"wait", func() error { return r.Wait(event("04.00"), time.Minute) }},
		{"end of a chain", func() error { return r.Complete(event("02.01"), nil) }},
		{"last branch", func() error { return r.Complete(event("04.00"), nil) }},
		{"join", func() error { return r.Complete(event("01"), nil) }},
	} {
		r.edit(step.edit)
		got, followed := reload(t, other, r.Bytes())
		if !followed {
			t.Errorf("%s: the document was read as a whole", step.name)
		}
		other = got
	}
	if !r.IsDone() {
		t.Errorf("the run has not ended:\n%s", r.Bytes())
	}
}

// TestReload_Otherwise has documents that do not follow from one another by edits
// of ours. What is left undone in them is settled by the next edit.
func TestReload_Otherwise(t *testing.T) {
	const (
		root   = `<Event id="00" name="A" status="inprocess" next="01.00|02.00" join="J" policy="failfast"/>`
		first  = `<Event id="01.00" name="B" status="inprocess" prev="00" key="w"/>`
		second = `<Event id="02.00" name="B" status="init" prev="00"/>`
	)
	doc := "<EventStream>\n" + root + "\n" + first + "\n" + second + "\n</EventStream>\n"
	for _, test := range []struct {
		name    string
		changes []string // old and new by turns
	}{
		{"no bytes", []string{doc, ""}},
		{"prolog", []string{"<EventStream>", "<!-- x --><EventStream>"}},
		{"root tag in two lines", []string{"<EventStream>", "<EventStream\nx='y'>"}},
		{"event behind the root tag", []string{"<EventStream>\n", `<EventStream x="y">`}},
		{"other root", []string{"<EventStream>", "<Stream>"}},
		{"empty root", []string{"<EventStream>", `<EventStream x="y"/>`}},
		{"epilog", []string{"</EventStream>\n", "</EventStream>\n\n"}},
		{"cut off", []string{"\n</EventStream>\n", ""}},
		{"comment", []string{first, first + "<!-- x -->"}},
		{"comment before", []string{second, "<!-- x -->" + second}},
		{"indented", []string{second, "\t" + second}},
		{"event in two lines", []string{second, strings.Replace(second, " prev", "\nprev", 1)}},
		{"event gone", []string{second + "\n", ""}},
		{"events exchanged", []string{first + "\n" + second, second + "\n" + first}},
		{"event between", []string{first, `<Event id="03.00" status="init" prev="00"/>` + "\n" + first}},
		{"other id", []string{` id="01.00"`, ` id="03.00"`}},
		{"doubled id", []string{second, second + "\n" + first}},
		{"unknown prev", []string{second, second + "\n" + `<Event id="03.00" status="init" prev="04.00"/>`}},
		{"prev of its own", []string{second, second + "\n" + `<Event id="03.00" status="init" prev="03.00"/>`}},
		{"other prev", []string{`status="init" prev="00"`, `status="init" prev="01.00"`}},
		{"no prev", []string{`status="init" prev="00"`, `status="init"`}},
		{"second root", []string{second, second + "\n" + `<Event id="03" status="init"/>`}},
		{"not in next", []string{second, second + "\n" + `<Event id="03.00" status="init" prev="00"/>`}},
		{"forgotten in next", []string{"01.00|02.00", "01.00"}},
		{"doubled in next", []string{"01.00|02.00", "01.00|02.00|02.00"}},
		{"turned round in next", []string{"01.00|02.00", "02.00|01.00"}},
		{"inserted in next", []string{"|02.00", "|03.00|02.00", second, second + "\n" + `<Event id="03.00" status="init" prev="00"/>`}},
		{"in the next of another", []string{`key="w"`, `next="01.01|03.00"`, second, second + "\n" + `<Event id="01.01" status="init" prev="01.00"/>` + "\n" + `<Event id="03.00" status="init" prev="00"/>`}},
		{"unknown in next", []string{"01.00|02.00", "01.00|02.00|03.00"}},
		{"empty in next", []string{"01.00|02.00", "01.00|02.00|"}},
		{"step that skips its thread", []string{"|02.00", "|02.00|03.05", second, second + "\n" + `<Event id="03.05" status="init" prev="00"/>`}},
		{"superseded", []string{second, strings.Replace(second, "/>", ` superseded="2026-11-30T07:33:51.120Z"/>`, 1)}},
		{"final above open ones", []string{`status="inprocess" next`, `status="completed" next`}},
		{"open parent in init", []string{`status="inprocess" next`, `status="init" next`}},
		{"decided by a policy", []string{first + "\n", `<Event id="01.00" status="aborted" prev="00"/>` + "\n"}},
		{"paused without a time", []string{"<EventStream>", `<EventStream paused="yes">`}},
		{"event paused without a time", []string{`status="init"`, `status="init" paused="yes"`}},
		{"unknown status", []string{`status="init"`, `status="done"`}},
		{"unknown entity", []string{`status="init"`, `status="init" x="&nbsp;"`}},
		{"control character", []string{`status="init"`, "status=\"init\" x=\"\x01\""}},
		{"invalid UTF-8", []string{`status="init"`, "status=\"init\" x=\"\xff\""}},
		{"tag not closed", []string{second, strings.TrimSuffix(second, "/>")}},
		{"event not closed", []string{second, strings.TrimSuffix(second, "/>") + ">"}},
		{"other element", []string{second, strings.Replace(second, "<Event", "<Evening", 1)}},
		{"text behind", []string{second, second + "x"}},
		{"no id", []string{` id="02.00"`, ""}},
		{"no status", []string{` status="init"`, ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := rewrite(t, doc, test.changes...)
			if _, followed := reload(t, parse(t, doc).Stream, []byte(text)); followed {
				t.Errorf("Reload followed to\n%s", text)
			}
		})
	}
}

// rewrite replaces the first of each old text by a new one.
func rewrite(t *testing.T, doc string, changes ...string) string {
	t.Helper()
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(doc, changes[i]) {
			t.Fatalf("%q is not in\n%s", changes[i], doc)
		}
		doc = strings.Replace(doc, changes[i], changes[i+1], 1)
	}
	return doc
}

// TestReload_AfterForeignHand begins with documents that are not as our edits leave
// them.
func TestReload_AfterForeignHand(t *testing.T) {
	for _, test := range []struct{ name, events, old, new string }{
		{"undone before",
			`<Event id="00" status="completed" next="01.00"/>` + "\n" + `<Event id="01.00" status="init" prev="00"/>`,
			`status="init"`, `status="canceled"`},
		{"several first events of a thread",
			`<Event id="00" status="inprocess" next="01.00|01.05|02.00"/>` + "\n" + `<Event id="01.00" status="completed" prev="00"/>` + "\n" +
				`<Event id="01.05" status="completed" prev="00" next="01.06"/>` + "\n" + `<Event id="01.06" status="completed" prev="01.05" next="01.07"/>` + "\n" +
				`<Event id="01.07" status="completed" prev="01.06" next="01.08"/>` + "\n" + `<Event id="01.08" status="completed" prev="01.07"/>` + "\n" +
				`<Event id="02.00" status="init" prev="00"/>`,
			`status="completed" prev="01.07"`, `status="aborted" prev="01.07"`},
		{"root of another id", `<Event id="01.00" status="init"/>`, `status="init"`, `status="init" prev="09.00"`},
		{"superseded event in next",
			`<Event id="00" status="inprocess" next="01.00"/>` + "\n" + `<Event id="01.00" status="init" prev="00"/>` + "\n" +
				`<Event id="02.00" status="canceled" prev="00" superseded="2026-11-30T07:33:51.120Z"/>`,
			`next="01.00"`, `next="01.00|02.00"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := "<EventStream>\n" + test.events + "\n</EventStream>\n"
			reload(t, parse(t, doc).Stream, []byte(rewrite(t, doc, test.old, test.new)))
		})
	}
}

// TestReload_SettledBefore: what was settled in memory, and not written, is not told
// of what another process wrote.
func TestReload_SettledBefore(t *testing.T) {
	doc := `<EventStream>
<Event id="00" status="completed" next="01.00"/>
<Event id="01.00" status="init" prev="00"/>
</EventStream>
`
	s := parse(t, doc).Stream
	if _, err := s.Edit(epoch, func() error { return errWanted }); err == nil || bytes.Equal(s.Bytes(), []byte(doc)) {
		t.Fatalf("Edit = %v, and nothing was settled:\n%s", err, s.Bytes())
	}
	got, err := s.Reload(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := got.Edit(epoch, func() error { return nil }); err != nil || changes.Changed != 0 {
		t.Errorf("Edit = %+v, %v, want no changes", changes, err)
	}
}

// FuzzReload lets two processes edit in turns, with a foreign hand between them:
// whoever takes over has what it would have read.
func FuzzReload(f *testing.F) {
	addDocuments(f, func(doc []byte) {
		f.Add(doc, uint64(1), uint(len(doc)/2), uint(0), "")
		f.Add(doc, uint64(2), uint(len(doc)/3), uint(3), "<!-- x -->\n")
		f.Add(doc, uint64(3), uint(strings.Index(string(doc), "init")), uint(4), "completed")
		f.Add(doc, uint64(4), uint(max(0, len(doc)-20)), uint(0), "\n<Event id=\"07.00\" status=\"init\" prev=\"00\"/>")
	})
	f.Fuzz(func(t *testing.T, doc []byte, seed uint64, at, gone uint, insert string) {
		writer, err := eventstream.Parse(doc)
		if err != nil {
			return
		}
		other, err := eventstream.Parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		for turn := range uint64(4) {
			if _, err := writer.Edit(epoch, func() error { scribble(writer, seed+turn); return nil }); err != nil {
				t.Fatal(err)
			}
			text := writer.Bytes()
			if turn == 2 {
				from := min(int(at%(1<<20)), len(text))
				to := min(from+int(gone%(1<<10)), len(text))
				text = append(append(append([]byte(nil), text[:from]...), insert...), text[to:]...)
			}
			pieces := writer.Pieces()
			if turn >= 2 || seed%2 == 0 {
				pieces = cut(string(text), rand.New(rand.NewPCG(seed, turn)))
			}
			next, _ := reloadPieces(t, other, pieces)
			if next == nil {
				return
			}
			writer, other = next, writer
		}
	})
}

// cut cuts a text anywhere.
func cut(text string, dice *rand.Rand) (pieces []string) {
	for len(text) > 0 {
		n := min(dice.IntN(300), len(text))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// TestReloadPieces_Follows takes the pieces of another process, which stand where those
// before them did.
func TestReloadPieces_Follows(t *testing.T) {
	for _, n := range []int{2, 63, 64, 65, 128, 200} { // events
		r := start(t)
		r.split("00", n-1, nil)
		other := parse(t, string(r.Bytes())).Stream
		for round, f := range []func() error{
			func() error { return nil },
			func() error { return r.Update(r.At(n-1), "by", "alice") },
			func() error { return errors.Join(r.Update(r.At(1), "by", "bob"), r.SetAttrs("note", "changed")) },
			func() error { _, err := r.Next(r.At(n-1), eventstream.NewEvent{Name: "N"}); return err },
			func() error { return r.Update(r.At(n/2), "by", "carol") },
		} {
			if _, err := r.Edit(r.now, f); err != nil {
				t.Fatal(err)
			}
			r.Compact()
			got, followed := reloadPieces(t, other, r.Pieces())
			if !followed {
				t.Errorf("%d events, round %d: ReloadPieces read the document as a whole", n, round)
			}
			other = got
		}
	}
}

// TestReload_Memory: what was read once is not kept alive by what is left of it.
func TestReload_Memory(t *testing.T) {
	for in, read := range map[string]func(s, other *eventstream.Stream) (*eventstream.Stream, error){
		"one":    func(s, other *eventstream.Stream) (*eventstream.Stream, error) { return other.Reload(s.Bytes()) },
		"pieces": func(s, other *eventstream.Stream) (*eventstream.Stream, error) { return other.ReloadPieces(s.Pieces()) },
		"blocks": func(s, other *eventstream.Stream) (*eventstream.Stream, error) {
			s.Compact()
			return other.ReloadPieces(s.Pieces())
		},
	} {
		t.Run(in, func(t *testing.T) { reloadOften(t, read) })
	}
}

func reloadOften(t *testing.T, read func(s, other *eventstream.Stream) (*eventstream.Stream, error)) {
	r := start(t)
	r.split("00", 200, nil)
	other := parse(t, string(r.Bytes())).Stream
	big := eventstream.JSON([]byte(`"` + strings.Repeat("x", 10_000) + `"`))
	for round := range 400 {
		e := r.At(1 + round%100)
		if _, err := r.Edit(r.now, func() error { return r.SetInput(e, big) }); err != nil {
			t.Fatal(err)
		}
		got, err := read(r.Stream, other)
		if err != nil || got != other {
			t.Fatalf("Reload = %v, %v, want what was there", got, err)
		}
	}
	size := len(r.Bytes())
	with := heap()
	runtime.KeepAlive(other)
	other = nil
	if kept := int(with) - int(heap()); kept > 3*size {
		t.Errorf("after 400 reloads a document of %d bytes takes %d", size, kept)
	}
	runtime.KeepAlive(r)
}
