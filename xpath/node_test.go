package xpath_test

import (
	"testing"

	"github.com/leasestream/leasestream/xpath"
)

func TestNode(t *testing.T) {
	s := parse(t, "\ufeff<?xml version='1.0'?><!--a--><EventStream\nxmlns:x='urn:x' name='n'><x:e x:a='1&#10;&quot;'>t&amp;<![CDATA[<u>]]>v</x:e>"+
		"<Event id='00' status='init' xmlns='urn:y'><Input>{\"a\":1}</Input><?go  now?></Event>\r\n</EventStream><!--b-->")
	for _, test := range []struct {
		expr             string
		kind             xpath.NodeKind
		name, value, xml string
		within           string
	}{
		{"./Event", xpath.EventNode, "Event", `{"a":1}`,
			`<Event id='00' status='init' xmlns='urn:y'><Input>{"a":1}</Input><?go  now?></Event>`, "00"},
		{"./Event/Input", xpath.ElementNode, "Input", `{"a":1}`, `<Input>{"a":1}</Input>`, "00"},
		{"./Event/@id", xpath.AttributeNode, "id", "00", `id="00"`, "00"},
		{"./Event/@*[last()]", xpath.AttributeNode, "status", "init", `status="init"`, "00"},
		{"./Event/node()[2]", xpath.InstructionNode, "go", "now", "<?go  now?>", "00"},
		{"./*[1]", xpath.ElementNode, "x:e", "t&<u>v", "<x:e x:a='1&#10;&quot;'>t&amp;<![CDATA[<u>]]>v</x:e>", ""},
		{"./*[1]/text()", xpath.TextNode, "", "t&<u>v", "t&amp;<![CDATA[<u>]]>v", ""},
		{"./*[1]/@*", xpath.AttributeNode, "x:a", "1\n\"", `x:a="1&#xA;&quot;"`, ""},
		{"./@*", xpath.AttributeNode, "name", "n", `name="n"`, ""},
		{"./Event[@id='00'][not(@xmlns='urn:y')]/@id", xpath.AttributeNode, "id", "00", `id="00"`, "00"},
		{"./text()", xpath.TextNode, "", "\n", "\r\n", ""},
		{"/comment()[1]", xpath.CommentNode, "", "a", "<!--a-->", ""},
		{"/comment()[2]", xpath.CommentNode, "", "b", "<!--b-->", ""},
		{".", xpath.ElementNode, "EventStream", "t&<u>v{\"a\":1}\n", string(s.Bytes())[len("\ufeff<?xml version='1.0'?><!--a-->") : s.Size()-len("<!--b-->")], ""},
		{"/", xpath.DocumentNode, "", "t&<u>v{\"a\":1}\n", string(s.Bytes()), ""},
	} {
		v, err := evaluate(t, s, test.expr)
		if err != nil || len(v.Nodes) != 1 {
			t.Errorf("Evaluate(%s) = %v, %v, want one node", test.expr, v, err)
			continue
		}
		n := v.Nodes[0]
		if n.Kind() != test.kind || n.Name() != test.name || n.Value() != test.value || n.XML() != test.xml {
			t.Errorf("%s: kind %d, name %q, value %q, XML %q, want %d, %q, %q, %q",
				test.expr, n.Kind(), n.Name(), n.Value(), n.XML(), test.kind, test.name, test.value, test.xml)
		}
		if within := n.Within(); (within == nil) != (test.within == "") || within != nil && within.ID() != test.within {
			t.Errorf("%s: within %v, want %q", test.expr, within, test.within)
		}
		if (n.Event() != nil) != (test.kind == xpath.EventNode) {
			t.Errorf("%s: event %v", test.expr, n.Event())
		}
	}
}

// TestNode_NoElement asks about a stream of 0 bytes and about one without events.
func TestNode_NoElement(t *testing.T) {
	for document, want := range map[string]string{
		"":                                      "0 0 0 0",
		"<EventStream/>":                        "1 0 0 0",
		"<EventStream></EventStream>":           "1 0 0 0",
		"<EventStream/><!--x-->":                "1 0 0 1",
		"<EventStream> <a b=''/></EventStream>": "2 1 1 0",
	} {
		v, err := evaluate(t, parse(t, document),
			"concat(count(//*), ' ', count(//text()), ' ', count(//@*), ' ', count(//comment()))")
		if err != nil || v.Text != want {
			t.Errorf("%q: %s, %v, want %s", document, v.Text, err, want)
		}
	}
}
