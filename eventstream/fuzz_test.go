package eventstream_test

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func addDocuments(f *testing.F, add func(doc []byte)) {
	f.Helper()
	names, err := filepath.Glob("testdata/searchorder/*.xml")
	if err != nil || len(names) == 0 {
		f.Fatalf("no golden documents: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(data)
	}
	for _, doc := range []string{
		"", " ", "<EventStream/>", "\uFEFF<?xml version='1.0' encoding=\"utf-8\" standalone='no'?>\r\n<EventStream >\r\n</EventStream >",
		inAttr("&lt;&#65;'\t"), inEvent("<![CDATA[]]]]><!--a--><?b c?><Input x='y'>1<a/></Input>]]&gt;"), between("<x><y/>z</x><!-- a -- b -->"),
		`<EventStream><Event id="00" status="canceled" next="01.00|02.00" join="J" policy="first:1"/>` +
			`<Event id="01.00" prev="00" status="inprocess" key="w" started="6/9/2013 8:15:00 AM" timeout="00:00:30"/>` +
			`<Event id="02.00" prev="00" status="init" due="2030-01-01T00:00:00Z" branches="3" ok="1"/><Event id="03" prev="00" status="init"/></EventStream>`,
		`<EventStream paused="x"><Event id="01.00" prev="00" status="completed" superseded="x"/><Event id="00" status="inprocess" paused="y"/></EventStream>`,
		`<EventStream><Event id="00" status="init" policy="tolerate:50%"/><Event id="01" prev="02" status="init"/><Event id="02" prev="01" status="init"/></EventStream>`,
	} {
		add([]byte(doc))
	}
}

// FuzzParse reads, writes and reads again: the bytes and everything that was read
// of them are the same, and nothing that can be asked of a stream panics.
func FuzzParse(f *testing.F) {
	addDocuments(f, func(doc []byte) { f.Add(doc) })
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := eventstream.Parse(doc)
		if err != nil {
			syntax, isSyntax := errors.AsType[*eventstream.SyntaxError](err)
			if !isSyntax || syntax.Line < 1 || syntax.Column < 1 || syntax.Msg == "" {
				t.Fatalf("Parse = %v, want a SyntaxError with a place", err)
			}
			return
		}
		if got := s.Bytes(); !bytes.Equal(got, doc) || s.Size() != len(doc) {
			t.Fatalf("written: %q, %d bytes, want %q", got, s.Size(), doc)
		}
		dump := s.Dump()
		askEverything(s)
		if got := s.Dump(); got != dump {
			t.Fatalf("asking has changed the stream to\n%s\nfrom\n%s", got, dump)
		}
		// What was left undone is settled, and then stays as it is.
		for range 2 {
			if _, err := s.Edit(epoch, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			again, err := eventstream.Parse(s.Bytes())
			if err != nil {
				t.Fatalf("what was settled is refused: %v\n%s", err, s.Bytes())
			}
			if !bytes.Equal(again.Bytes(), s.Bytes()) {
				t.Fatalf("read and written again: %q, want %q", again.Bytes(), s.Bytes())
			}
		}
	})
}

func askEverything(s *eventstream.Stream) {
	s.Summary().Metadata()
	s.Validate()
	s.Status()
	s.Last()
	s.Prolog()
	s.Epilog()
	drain(s.Claimable(epoch, 1))
	drain(s.Woken(epoch))
	drain(s.Replaced())
	for e := range s.Events() {
		for range e.Attrs() {
		}
		e.Input()
		e.Output()
		e.Attempts()
		e.Cursor()
		e.Content()
		e.IsJoin()
		e.Time("created")
		e.Timeout()
		drain(e.Next())
		drain(s.Results(e))
	}
	for i := range s.Len() + 1 {
		s.Gap(i)
	}
}

func drain[T any](seq iter.Seq[T]) {
	for range seq {
	}
}

// FuzzSplice sets and removes an attribute somewhere: every byte outside of the
// start tag stays as it was, every other attribute keeps its value, and the value
// comes back as it was set.
func FuzzSplice(f *testing.F) {
	addDocuments(f, func(doc []byte) {
		f.Add(doc, uint(0), "tag", "x", false)
		f.Add(doc, uint(1), "msg", "a\t\"'<&>\r\n", false)
		f.Add(doc, uint(2), "prev", "\x00", false)
		f.Add(doc, uint(3), "timeout", "30s", true)
	})
	f.Fuzz(func(t *testing.T, doc []byte, place uint, name, value string, remove bool) {
		s, err := eventstream.Parse(doc)
		if err != nil || s.Len() == 0 {
			return
		}
		if _, err := s.Edit(epoch, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		before := string(s.Bytes())
		i := int(place % uint(s.Len()))
		e := s.At(i)
		tagAt, rest := splitAt(s, i)
		attrs := maps.Collect(e.Attrs())
		_, err = s.Edit(epoch, func() error {
			if remove {
				return s.Remove(e, name)
			}
			return s.Update(e, name, value)
		})
		if err != nil {
			if got := string(s.Bytes()); got != before {
				t.Fatalf("a refused edit left %q, want %q", got, before)
			}
			return
		}
		if slices.Contains([]string{"join", "policy", "branches", "ok", "failed", "status"}, name) {
			return // may go on to other events
		}
		after := string(s.Bytes())
		if !strings.HasPrefix(after, before[:tagAt]) || !strings.HasSuffix(after, rest) {
			t.Fatalf("bytes outside of the tag changed:\n%q\nwant\n%q…%q", after, before[:tagAt], rest)
		}
		again, err := eventstream.Parse([]byte(after))
		if err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, after)
		}
		delete(attrs, name)
		if !remove {
			attrs[name] = value
		}
		got := maps.Collect(again.At(i).Attrs())
		delete(attrs, "timestamp")
		delete(got, "timestamp")
		if !maps.Equal(got, attrs) {
			t.Fatalf("the attributes are %q, want %q", got, attrs)
		}
		if got, want := again.Dump(), s.Dump(); got != want {
			t.Fatalf("read anew the indexes are\n%s\nwant\n%s", got, want)
		}
	})
}

// splitAt is where event i begins in the document, and what follows its start
// tag.
func splitAt(s *eventstream.Stream, i int) (tagAt int, rest string) {
	tail := ""
	for j := s.Len(); j > i; j-- {
		tail = s.GapXML(j) + tail
		if j > i+1 {
			tail = s.At(j-1).XML() + tail
		}
	}
	e := s.At(i)
	return s.Size() - len(tail) - len(e.XML()), e.ContentXML() + tail
}

// FuzzTimes reads times and durations and writes them again.
func FuzzTimes(f *testing.F) {
	for _, s := range []string{
		"2026-11-30T07:33:51.120Z", "2013-06-09T10:15:00+02:00", "6/9/2013 8:15:00 AM", "06/09/2013 08:15:00", "9999-12-31T23:59:59-23:59",
		"30s", "1h2m3.4s", "00:00:30", "1.02:03:04.5", "PT30S", "P1DT2H3M4.5S", "", "P", "106751.23:47:16.854775807",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if at, err := eventstream.ParseTime(s); err == nil {
			text := eventstream.FormatTime(at)
			again, err := eventstream.ParseTime(text)
			if err != nil || !again.Equal(at.Truncate(time.Millisecond)) || eventstream.FormatTime(again) != text {
				t.Errorf("ParseTime(%q) = %v, written %q, read again %v, %v", s, at, text, again, err)
			}
		} else if !errors.Is(err, eventstream.ErrTime) {
			t.Errorf("ParseTime(%q) = %v, want ErrTime", s, err)
		}
		if d, err := eventstream.ParseDuration(s); err == nil {
			again, err := eventstream.ParseDuration(d.String())
			if err != nil || again != d || d < 0 {
				t.Errorf("ParseDuration(%q) = %v, read again %v, %v", s, d, again, err)
			}
		} else if !errors.Is(err, eventstream.ErrTime) {
			t.Errorf("ParseDuration(%q) = %v, want ErrTime", s, err)
		}
	})
}
