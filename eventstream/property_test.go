package eventstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasestream/leasestream/eventstream"
)

// TestStream_NaiveModel drives a stream and the naive model with the same random
// edits, some of which fail, and with what foreign hands do to the document, and
// compares everything that can be asked of them after each.
func TestStream_NaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		p.compare("after the start")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			p.step()
		}
	})
}

// pair is a stream and the model of it.
type pair struct {
	*rapid.T
	s     *eventstream.Stream
	other *eventstream.Stream // as another process has it, which has edited before
	m     *naive
}

var epoch = time.Date(2026, 11, 30, 7, 33, 51, 0, time.UTC)

func newPair(t *rapid.T) *pair {
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "order", Run: "r1", Pipeline: "p", Root: eventstream.NewEvent{Name: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	other, err := eventstream.Parse(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t, s, other, &naive{now: epoch, events: []*naiveEvent{{id: "00", name: "A", status: "init"}}}}
}

var errWanted = errors.New("wanted")

func (p *pair) step() {
	if rapid.Bool().Draw(p.T, "compact") {
		p.s.Compact()
	}
	p.m.now = p.m.now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(p.T, "ms")) * time.Millisecond)
	switch rapid.IntRange(0, 11).Draw(p.T, "kind of step") {
	case 10, 11:
		p.takeOver()
	case 0:
		p.foreignHand()
	case 1:
		p.failingEdit(func() error { return errWanted })
	case 2:
		p.failingEdit(func() error { panic(errWanted) })
	default:
		p.edit()
	}
}

func (p *pair) edit() {
	before := p.s.Bytes()
	wasDone, had := p.s.IsDone(), p.s.Len()
	changes, err := p.s.Edit(p.m.now, func() error {
		p.m.settle()
		for range rapid.IntRange(1, 3).Draw(p.T, "operations") {
			p.operate()
		}
		return nil
	})
	if err != nil {
		p.Fatalf("Edit = %v", err)
	}
	p.compare("after an edit")
	if got, want := len(changes.Created), p.s.Len()-had; got != want {
		p.Fatalf("Changes.Created has %d events, want %d", got, want)
	}
	if got, want := changes.Ended, p.s.IsDone() && !wasDone; got != want {
		p.Fatalf("Changes.Ended = %v, want %v", got, want)
	}
	if changes.Changed == 0 && !bytes.Equal(before, p.s.Bytes()) {
		p.Fatalf("Changes.Changed = 0, but the document changed:\n%s\n%s", before, p.s.Bytes())
	}
}

// failingEdit does several operations, which must all be undone.
func (p *pair) failingEdit(end func() error) {
	// What was left undone by a foreign hand is settled before, and stays.
	if _, err := p.s.Edit(p.m.now, func() error { return nil }); err != nil {
		p.Fatal(err)
	}
	p.m.settle()
	p.compare("settled")
	before, dump, kept := p.s.Bytes(), p.s.Dump(), p.m.clone()
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil && r != errWanted {
				panic(r)
			} else if r != nil {
				err = errWanted
			}
		}()
		_, err = p.s.Edit(p.m.now, func() error {
			for range rapid.IntRange(1, 4).Draw(p.T, "operations") {
				p.operate()
			}
			return end()
		})
		return err
	}()
	if !errors.Is(err, errWanted) {
		p.Fatalf("Edit = %v, want %v", err, errWanted)
	}
	p.m = kept
	if got := p.s.Bytes(); !bytes.Equal(got, before) {
		p.Fatalf("a failed edit left\n%s\nwant\n%s", got, before)
	}
	if got := p.s.Dump(); got != dump {
		p.Fatalf("a failed edit left the indexes\n%s\nwant\n%s", got, dump)
	}
	p.compare("undone")
}

// takeOver lets the other process go on, with what the one before has written.
func (p *pair) takeOver() {
	var s *eventstream.Stream
	var err error
	if rapid.Bool().Draw(p.T, "in pieces") {
		s, err = p.other.ReloadPieces(p.s.Pieces())
	} else {
		s, err = p.other.Reload(p.s.Bytes())
	}
	if err != nil {
		p.Fatalf("Reload: %v\n%s", err, p.s.Bytes())
	}
	p.s, p.other = s, p.s
	p.compareRead("taken over")
}

// foreignHand changes the document as an editor would.
func (p *pair) foreignHand() {
	text := string(p.s.Bytes())
	e, m := p.draw("event")
	element := e.XML()
	changed := element
	switch rapid.IntRange(0, 5).Draw(p.T, "what the foreign hand does") {
	case 0, 1:
		status := rapid.SampledFrom([]string{"init", "inprocess", "completed", "aborted", "canceled"}).Draw(p.T, "status")
		changed = strings.Replace(element, ` status="`+m.status+`"`, ` status='`+status+`'`, 1)
		if changed == element {
			changed = strings.Replace(element, ` status='`+m.status+`'`, ` status="`+status+`"`, 1)
		}
		m.status = status
	case 2:
		changed = strings.Replace(element, "<Event", fmt.Sprintf("<Event\tx:odd%d = '&lt;\"'\r\n ", len(text)), 1)
		text = strings.Replace(text, element, "<!-- <Event id=\"00\"/> -->\r\n\t"+element+"<Other><Event/></Other>", 1)
	case 3: // an event that its prev does not know
		id := p.m.nextStep(m.thread())
		text = strings.Replace(text, "\n</EventStream>", fmt.Sprintf("\n<Event id=%q name=\"L\" status=\"init\" prev=%q></Event >\n</EventStream>", id, m.id), 1)
		p.m.events = append(p.m.events, &naiveEvent{id: id, name: "L", status: "init", prev: m.id, loose: true})
	case 4: // the successors are forgotten
		changed = regexp.MustCompile(` next="[^"]*"`).ReplaceAllString(element, "")
		for _, n := range p.m.next(m) {
			n.loose = true
		}
		m.next = nil
	case 5:
		m.join, m.policy = "F", "failfast"
		changed = regexp.MustCompile(` (join|policy)="[^"]*"`).ReplaceAllString(element, "")
		changed = strings.Replace(changed, "<Event", `<Event join="F" policy="failfast"`, 1)
	}
	text = strings.Replace(text, element, changed, 1)
	s, err := eventstream.Parse([]byte(text))
	if err != nil {
		p.Fatalf("Parse after the foreign hand: %v\n%s", err, text)
	}
	if got := string(s.Bytes()); got != text {
		p.Fatalf("Bytes after the foreign hand =\n%s\nwant\n%s", got, text)
	}
	p.s = s
	p.compareClaimable()
}
