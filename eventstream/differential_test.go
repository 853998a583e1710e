package eventstream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/antchfx/xmlquery"
	"pgregory.net/rapid"

	"github.com/leasestream/leasestream/eventstream"
)

// TestParse_Differential holds what we read of random documents against what
// xmlquery reads of them: attributes, texts and structure. Left out is where
// xmlquery deviates from XML: it does not make a space of raw white space in
// attributes, leaves CR LF in comments, and refuses prefixes that are not
// declared.
func TestParse_Differential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compareWithXMLQuery(t, drawDocument(t))
	})
}

func TestParse_DifferentialGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/searchorder/*.xml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden documents: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compareWithXMLQuery(t, string(data))
	}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func compareWithXMLQuery(t fataler, doc string) {
	t.Helper()
	s, err := eventstream.Parse([]byte(doc))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, doc)
	}
	oracle, err := xmlquery.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatalf("xmlquery refuses what we accept: %v\n%s", err, doc)
	}
	root := oracle.SelectElement("EventStream")
	compareText(t, doc, "attributes of the root", pairsOf(s.Attrs()), oraclePairs(root))
	events := root.SelectElements("Event")
	if len(events) != s.Len() {
		t.Fatalf("%d events, xmlquery has %d\n%s", s.Len(), len(events), doc)
	}
	for i, want := range events {
		e := s.At(i)
		compareText(t, doc, "attributes of event "+e.ID(), pairsOf(e.Attrs()), oraclePairs(want))
		compareText(t, doc, "content of event "+e.ID(), outline(e.Content()), oracleOutline(want.FirstChild))
		if input := want.SelectElement("Input"); input != nil {
			got, _ := e.Input()
			compareText(t, doc, "input of event "+e.ID(), string(got.JSON), oracleText(input))
		}
		compareText(t, doc, "tree of event "+e.ID(), oracleOutline(e.Tree().FirstChild), oracleOutline(want.FirstChild))
	}
	compareText(t, doc, "tree", oracleOutline(s.Tree().SelectElement("EventStream").FirstChild), oracleOutline(root.FirstChild))
}

func compareText(t fataler, doc, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s:\n%q\nxmlquery has\n%q\nin\n%s", what, got, want, doc)
	}
}

func pairsOf(attrs func(yield func(string, string) bool)) string {
	var b strings.Builder
	for name, value := range attrs {
		fmt.Fprintf(&b, "%s=%q ", name, value)
	}
	return b.String()
}

func oraclePairs(n *xmlquery.Node) string {
	var b strings.Builder
	for _, a := range n.Attr {
		name := a.Name.Local
		if a.Name.Space != "" {
			name = a.Name.Space + ":" + name
		}
		fmt.Fprintf(&b, "%s=%q ", name, a.Value)
	}
	return b.String()
}

// outline writes a fragment as nested text.
func outline(f eventstream.Fragment) string {
	var b strings.Builder
	var write func(from, to int)
	write = func(from, to int) {
		for i := from; i < to; i = f[i].End {
			switch n := &f[i]; n.Kind {
			case eventstream.TextNode:
				fmt.Fprintf(&b, "%q ", n.Text)
			case eventstream.CommentNode:
				fmt.Fprintf(&b, "comment %q ", n.Text)
			case eventstream.InstructionNode:
				fmt.Fprintf(&b, "instruction %s ", n.Name)
			case eventstream.ElementNode:
				fmt.Fprintf(&b, "%s[%s](", n.Name, pairsOf(n.Attrs()))
				write(i+1, n.End)
				b.WriteString(") ")
			}
		}
	}
	write(0, len(f))
	return b.String()
}

func oracleOutline(n *xmlquery.Node) string {
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			fmt.Fprintf(&b, "%q ", text)
		}
		text = ""
	}
	for ; n != nil; n = n.NextSibling {
		if n.Type == xmlquery.TextNode || n.Type == xmlquery.CharDataNode {
			text += n.Data
			continue
		}
		flush()
		switch n.Type {
		case xmlquery.CommentNode:
			fmt.Fprintf(&b, "comment %q ", strings.ReplaceAll(n.Data, "\r\n", "\n"))
		case xmlquery.ProcessingInstruction:
			fmt.Fprintf(&b, "instruction %s ", strings.Fields(n.Data)[0])
		case xmlquery.ElementNode:
			name := n.Data
			if n.Prefix != "" {
				name = n.Prefix + ":" + name
			}
			fmt.Fprintf(&b, "%s[%s](%s) ", name, oraclePairs(n), oracleOutline(n.FirstChild))
		}
	}
	flush()
	return b.String()
}

// oracleText is the character data of an element without that of elements in it.
func oracleText(n *xmlquery.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == xmlquery.TextNode || c.Type == xmlquery.CharDataNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// drawDocument makes a document of odd but valid XML.
func drawDocument(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "<?xml version='1.0'?>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<!--c-->\n", "<?p i?>"}).Draw(t, "prolog"))
	b.WriteString("<EventStream" + drawAttrs(t) + drawSpace(t) + ">")
	for i := range rapid.IntRange(0, 5).Draw(t, "events") {
		b.WriteString(drawContent(t, 1))
		fmt.Fprintf(&b, "<Event%s id='%02d' status=\"init\"%s", drawAttrs(t), i, drawSpace(t))
		if rapid.Bool().Draw(t, "empty") {
			b.WriteString("/>")
			continue
		}
		b.WriteString(">" + drawContent(t, 2))
		if rapid.Bool().Draw(t, "input") {
			b.WriteString("<Input" + drawAttrs(t) + ">" + drawContent(t, 1) + "</Input" + drawSpace(t) + ">")
		}
		b.WriteString(drawContent(t, 2) + "</Event" + drawSpace(t) + ">")
	}
	b.WriteString(drawContent(t, 1) + "</EventStream>" + rapid.SampledFrom([]string{"", "\n", "<!-- end -->", "<?p?>"}).Draw(t, "epilog"))
	return b.String()
}

func drawSpace(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\r\n", "\t "}).Draw(t, "space")
}

func drawAttrs(t *rapid.T) string {
	values := []string{"", "a", "ä€\U0001F600", "&lt;&amp;&#65;&#x1F600;&quot;&apos;&gt;", ">", "/>", "]]>", "&#9;&#xA;&#xd;"}
	var b strings.Builder
	for i := range rapid.IntRange(0, 3).Draw(t, "attributes") {
		quote := rapid.SampledFrom([]string{`"`, `'`}).Draw(t, "quote")
		value := rapid.SampledFrom(append(slices.Clone(values), map[string]string{`"`: "'", `'`: `"`}[quote])).Draw(t, "value")
		fmt.Fprintf(&b, "\t%s%d%s=%s%s%s%s", rapid.SampledFrom([]string{"a", "größe", "_-."}).Draw(t, "name"), i, drawSpace(t), drawSpace(t), quote, value, quote)
	}
	return b.String()
}

func drawContent(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "nodes") {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind == 0:
			b.WriteString("<!--" + rapid.SampledFrom([]string{"", " - <Event> & ", "\r\n"}).Draw(t, "comment") + "-->")
		case kind == 1:
			b.WriteString("<![CDATA[" + rapid.SampledFrom([]string{"x", "<Event>&amp;", "]]", "\r\n\r"}).Draw(t, "CDATA") + "]]>")
		case kind == 2:
			b.WriteString("<?target " + rapid.SampledFrom([]string{"", "<x>", "? >"}).Draw(t, "instruction") + "?>")
		case kind == 3 && depth > 0:
			b.WriteString("<Child" + drawAttrs(t) + ">" + drawContent(t, depth-1) + "</Child>")
		case kind == 4:
			b.WriteString("<Child" + drawAttrs(t) + drawSpace(t) + "/>")
		default:
			b.WriteString(rapid.SampledFrom([]string{"text", " ", "&lt;&amp;&#10;", "]]&gt;", "\r\n", "\r", "{\"a\":\"ä\"}"}).Draw(t, "text"))
		}
	}
	return b.String()
}
