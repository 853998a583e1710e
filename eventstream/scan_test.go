package eventstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// branchesWith makes a document whose branches have attributes of their own, each
// written as given.
func branchesWith(attrs []string) string {
	var b strings.Builder
	b.WriteString(`<EventStream><Event id="00" status="inprocess"/>`)
	for i, a := range attrs {
		fmt.Fprintf(&b, `<Event id="%02d.00" %s prev="00"/>`, i+1, a)
	}
	b.WriteString("</EventStream>")
	return b.String()
}

// TestParse_TagsAlike reads tags that are like the one before, and yet not.
func TestParse_TagsAlike(t *testing.T) {
	attrs := []string{
		`status="init" topic="A"`, `status="completed" topic="B"`, `status='init' topic='C'`, `status = "init" topic = "D"`,
		`status = "aborted" topic = "E"`, `status="init" topics="x" topic="F"`, `status="init" topi="x" topic="G"`,
		`status="init" topic="H&amp;&#9;'"`, `status="init" topic="'&quot;" key=""`, `topic="J" status="init"`,
		`topic='K"' status='canceled'`, `status="init" name="topic" topic="#########"`, "status=\"init\" topic=\"ÄÖÜ\tÄÖÜ\"",
		`status="init" topic="123456781234567&lt;"`, `status="init" topic='12345678"12345678"'`,
	}
	s, err := eventstream.Parse([]byte(branchesWith(attrs)))
	if err != nil {
		t.Fatal(err)
	}
	for i, written := range attrs {
		e := s.At(i + 1)
		if got, want := e.Topic(), e.Attr("topic"); got != want {
			t.Errorf("topic of <Event %s> = %q, want %q", written, got, want)
		}
		if got, want := e.Status().String(), e.Attr("status"); got != want {
			t.Errorf("status of <Event %s> = %q, want %q", written, got, want)
		}
	}
}

// TestParse_DoubledAsBefore doubles an attribute where tags before had it, at the
// one place and at the other.
func TestParse_DoubledAsBefore(t *testing.T) {
	for _, name := range []string{"status", "trackingId", "p:x"} {
		one := name + `="init"`
		more := ""
		if name != "status" {
			more = ` status="init"`
		}
		doc := branchesWith([]string{`y="" ` + one + more, one + more, one + " " + one + more})
		if _, err := eventstream.Parse([]byte(doc)); err == nil || !strings.Contains(err.Error(), "attribute "+name+" is given twice") {
			t.Errorf("Parse of a second %s = %v, want a refusal", name, err)
		}
	}
}
