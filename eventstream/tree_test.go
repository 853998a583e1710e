package eventstream_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/antchfx/xmlquery"

	"github.com/leasestream/leasestream/eventstream"
)

func TestStream_Tree(t *testing.T) {
	r := parse(t, `<?p i?><EventStream xmlns="d" xmlns:x="u" name="n"><!--c--><x:a x:b="1" y:c="2"/>`+
		`<Event id="00" status="init"><Input>{"a":&lt;}</Input><z xmlns="e" xmlns:x="v"><x:q/></z></Event></EventStream><!--d-->`)
	tree := r.Tree()
	if got, want := tree.OutputXML(true), `<?xml version="1.0"?><?p i?><EventStream xmlns="d" xmlns:x="u" name="n"><!--c--><x:a x:b="1" y:c="2"></x:a>`+
		`<Event id="00" status="init"><Input>{&#34;a&#34;:&lt;}</Input><z xmlns="e" xmlns:x="v"><x:q></x:q></z></Event></EventStream><!--d-->`; got != want {
		t.Errorf("Tree() is\n%s\nwant\n%s", got, want)
	}
	if n := xmlquery.FindOne(tree, "/EventStream/Event[@id='00']/Input"); n == nil || n.InnerText() != `{"a":<}` {
		t.Errorf("the input is %v", n)
	}
	for path, want := range map[string]string{
		"/EventStream": "d", "//x:a": "u", "//Event": "d", "//z": "e", "//x:q": "v",
	} {
		if n := xmlquery.FindOne(tree, path); n == nil || n.NamespaceURI != want {
			t.Errorf("%s is %v, want it in namespace %q", path, n, want)
		}
	}
	if n := r.Root().Tree(); n.Data != "Event" || n.SelectAttr("id") != "00" || n.SelectElement("Input") == nil {
		t.Errorf("Tree() of the event is %s", n.OutputXML(true))
	}
	if n := r.Event("00").Tree().SelectElement("z"); n.NamespaceURI != "e" {
		t.Errorf("z is in namespace %q", n.NamespaceURI)
	}
}

// TestStream_TreeOfOddDocuments has what xmlquery's own parser refuses, loses or
// takes minutes for.
func TestStream_TreeOfOddDocuments(t *testing.T) {
	for _, doc := range []string{
		"", "<EventStream/>", between("<x:a y:b='c'/>"), between("<:x a:b:c='d'/>"), inAttr("\n\t"),
		between("<a></a>" + strings.Repeat("<!--a-->", 50_000)), between(strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000)),
	} {
		s := parse(t, doc)
		tree := s.Tree()
		if n := len(xmlquery.Find(tree, "/EventStream/Event")); n != s.Len() {
			t.Errorf("the tree of %.60q has %d events, want %d", doc, n, s.Len())
		}
	}
	if n := xmlquery.FindOne(parse(t, inAttr("\n\t")).Tree(), "//Event"); n.SelectAttr("tag") != "  " {
		t.Errorf("white space in an attribute is %q, want two spaces", n.SelectAttr("tag"))
	}
}

// TestStream_ManyReaders reads one stream from several goroutines; the race
// detector watches.
func TestStream_ManyReaders(t *testing.T) {
	r := start(t)
	r.split("00", 20, &eventstream.SplitOptions{Join: "J", Policy: eventstream.Tolerate(3)})
	r.abort("02.00")
	r.complete("01.00")
	r.edit(func() error { return r.Pause(r.Event("03.00"), "", "") })
	r.edit(func() error { _, err := r.Reopen(nil); return err })
	s := parse(t, string(r.Bytes())).Stream // as a reader has it, unsettled or not
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			askEverything(s)
			s.Tree()
			s.Bytes()
			s.ThreadLast("01")
			s.Event("01.00")
		})
	}
	readers.Wait()
}
