package eventstream_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// ok is the place of a document that is accepted.
const ok = ""

// inAttr, inEvent and inRoot put text into a document: as the value of an
// attribute, inside an event, and between the events. The value begins in line 2,
// column 32; the text inside the event in line 2, column 31; that between the
// events in line 3, column 1.
func inAttr(value string) string { return inRoot("", ` tag="`+value+`"`, "") }

func inEvent(text string) string { return inRoot("", "", text) }

func between(text string) string { return inRoot(text, "", "") }

func inRoot(text, attrs, content string) string {
	event := `<Event id="00" status="init"` + attrs + `>` + content + `</Event>`
	return "<EventStream>\n" + event + "\n" + text + "</EventStream>\n"
}

// TestParse_XML has a case for each row of the table of XML verdicts: what XML
// 1.0 accepts is accepted and what it refuses is refused, save that a DOCTYPE and
// encodings other than UTF-8 are refused too.
func TestParse_XML(t *testing.T) {
	tests := []struct {
		name, doc, place, msg string
	}{
		{"plain", between(""), ok, ""},
		{"char-entities", inAttr("&lt;&gt;&amp;&apos;&quot;&#65;&#x41;"), ok, ""},
		{"unknown entity", inAttr("a&unknown;"), "2:36", "&unknown; is not a known entity"},
		{"bare &", inAttr("a & b"), "2:37", "& begins no reference"},
		{"bare & in text", inEvent("a & b"), "2:32", "& begins no reference"},
		{"&#0;", inAttr("&#0;"), "2:35", "&#0;"},
		{"&#xD800;", inAttr("&#xD800;"), "2:35", "&#xD800;"},
		{"&#x110000;", inAttr("&#x110000;"), "2:35", "&#x110000;"},
		{"&#1;", inAttr("&#1;"), "2:35", "&#1;"},
		{"raw ctl 0x01 in attr", inAttr("a\x01"), "2:36", "U+0001 is not allowed"},
		{"raw NUL in attr", inAttr("a\x00"), "2:36", "U+0000 is not allowed"},
		{"invalid UTF-8 attr", inAttr("\xff"), "2:35", "invalid UTF-8"},
		{"invalid UTF-8 text", inEvent("ü\xc3("), "2:31", "invalid UTF-8"},
		{"overlong UTF-8", inEvent("\xc0\xaf"), "2:30", "invalid UTF-8"},
		{"BOM utf8", "\uFEFF" + between(""), ok, ""},
		{"latin1 declared", `<?xml version="1.0" encoding="ISO-8859-1"?>` + inAttr("\xe9"), "1:21", `the encoding is "ISO-8859-1"`},
		{"utf-16 LE BOM", "\xff\xfe<\x00E\x00", "1:1", "UTF-16"},
		{"unknown enc", `<?xml version="1.0" encoding="x-klingon"?>` + between(""), "1:21", `the encoding is "x-klingon"`},
		{"version 1.1", `<?xml version="1.1"?>` + between(""), "1:7", `version "1.1"`},
		{"CDATA", inEvent("<Input><![CDATA[<&]]></Input>"), ok, ""},
		{"]]> in text", inEvent("a]]>"), "2:31", "]]> in text"},
		{"< in attr", inAttr("a<b"), "2:36", "< in the value of attribute tag"},
		{"> in attr", inAttr("a>b"), ok, ""},
		{"]]> in attr", inAttr("]]>"), ok, ""},
		{"/> in attr", inAttr("/>"), ok, ""},
		{"dup attr", inRoot("", ` tag="a" tag="b"`, ""), "2:38", "attribute tag is given twice"},
		{"dup ns attr", inRoot("", ` xmlns:p="u" p:x="a" p:x="b"`, ""), "2:50", "attribute p:x is given twice"},
		{"undeclared prefix", between("<p:x p:y='z'/>"), ok, ""},
		{"no ws between attrs", inRoot("", ` tag="a"ref="b"`, ""), "2:37", "white space is missing"},
		{"unquoted attr", inRoot("", ` tag=a`, ""), "2:34", "not quoted"},
		{"attr without value", inRoot("", ` tag`, ""), "2:30", "attribute tag has no value"},
		{"single quotes", inRoot("", ` tag='a"b'`, ""), ok, ""},
		{"trailing text", between("") + "x", "4:1", "goes on after its root"},
		{"leading text", "x" + between(""), "1:1", "no root element here"},
		{"trailing element", between("") + "<x/>", "4:1", "goes on after its root"},
		{"trailing NULs", between("") + "\x00\x00", "4:1", "U+0000 is not allowed"},
		{"trailing comment", between("") + "<!-- x -->", ok, ""},
		{"truncated mid tag", "<EventStream>\n<Event id=\"00\"", "2:1", "the tag <Event is not closed"},
		{"truncated after event", "<EventStream>\n<Event id=\"00\" status=\"init\"/>\n", "3:1", "<EventStream> is not closed"},
		{"mismatched end", between("<x></y>"), "3:4", "</y> closes <x>"},
		{"wrong end", "<EventStream></Event>", "1:14", "</Event> closes <EventStream>"},
		{"extra end", between("") + "</EventStream>", "4:1", "goes on after its root"},
		{"empty", "", ok, ""}, // a choice of our own: an empty stream
		{"only ws", " \n", "2:1", "no root element"},
		{"only comment", "<!-- x -->", "1:11", "no root element"},
		{"-- in comment", between("<!-- a -- b -->"), "3:8", "-- inside a comment"},
		{"xml decl not first", "\n<?xml version='1.0'?>" + between(""), "2:1", "only at the very beginning"},
		{"two xml decls", "<?xml version='1.0'?>\n<?xml version='1.0'?>" + between(""), "2:1", "only at the very beginning"},
		{"PI", "<?a?>" + between("<?b c?>") + "<?d e?>", ok, ""},
		{"DOCTYPE", "<!DOCTYPE EventStream>\n" + between(""), "1:1", "DOCTYPE is refused"},
		{"DOCTYPE after root", between("") + "<!DOCTYPE EventStream>", "4:1", "DOCTYPE is refused"},
		{"internal entity", `<!DOCTYPE a [<!ENTITY x "y">]>` + inEvent("&x;"), "1:1", "DOCTYPE is refused"},
		{"external entity", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + inEvent("&x;"), "1:1", "DOCTYPE is refused"},
		{"name starts with digit", between("<1x/>"), "3:2", "no valid name"},
		{"colon names", between("<:x a:b:c='d'/>"), ok, ""},
		{"space before name", between("< x/>"), "3:2", "no valid name"},
		{"end tag w/ attrs", between("<x></x a='b'>"), "3:8", "more than a name"},
		{"CDATA at top level", between("") + "<![CDATA[x]]>", "4:1", "goes on after its root"},
		{"HTML entity", inEvent("&nbsp;"), "2:30", "&nbsp; is not a known entity"},
	}
	if len(tests) != 59 {
		t.Errorf("%d cases, want one for each of the 59 rows of the table", len(tests))
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkVerdict(t, test.doc, test.place, test.msg) })
	}
}

// checkVerdict parses a document and compares whether, where and why it was
// refused.
func checkVerdict(t *testing.T, doc, place, msg string) {
	t.Helper()
	s, err := eventstream.Parse([]byte(doc))
	if place == ok {
		if err != nil {
			t.Fatalf("Parse(%q) = %v, want none", doc, err)
		}
		if got := string(s.Bytes()); got != doc {
			t.Fatalf("Parse(%q).Bytes() = %q", doc, got)
		}
		return
	}
	syntax, isSyntax := errors.AsType[*eventstream.SyntaxError](err)
	if !isSyntax || !errors.Is(err, eventstream.ErrMalformed) {
		t.Fatalf("Parse(%q) = %v, want a SyntaxError", doc, err)
	}
	if got := fmt.Sprintf("%d:%d", syntax.Line, syntax.Column); got != place || !strings.Contains(syntax.Msg, msg) {
		t.Errorf("Parse(%q) refuses %s: %s\nwant %s: …%s…", doc, got, syntax.Msg, place, msg)
	}
	if want := fmt.Sprintf("line %d, column %d", syntax.Line, syntax.Column); !strings.Contains(err.Error(), want) {
		t.Errorf("Error() = %q, want it to have %q", err, want)
	}
}

// TestParse_XMLFurther has what the table does not.
func TestParse_XMLFurther(t *testing.T) {
	tests := []struct {
		name, doc, place, msg string
	}{
		{"declaration with all", `<?xml version='1.0' encoding="utf-8" standalone="yes" ?>` + between(""), ok, ""},
		{"declaration in capitals", `<?xml version="1.0" encoding="UTF-8"?>` + between(""), ok, ""},
		{"declaration without version", `<?xml encoding="utf-8"?>` + between(""), "1:7", "does not begin with version"},
		{"declaration of nothing", `<?xml ?>` + between(""), "1:1", "has no version"},
		{"declaration in disorder", `<?xml version="1.0" standalone="no" encoding="utf-8"?>` + between(""), "1:37", `unexpected "encoding"`},
		{"declaration with more", `<?xml version="1.0" foo="bar"?>` + between(""), "1:21", `unexpected "foo"`},
		{"declaration without space", `<?xml version="1.0"encoding="utf-8"?>` + between(""), "1:20", "white space is missing"},
		{"standalone maybe", `<?xml version="1.0" standalone="maybe"?>` + between(""), "1:21", "standalone"},
		{"declaration cut off", `<?xml`, "1:6", "white space is missing"},
		{"PI that begins like a declaration", `<?xml-stylesheet href="a"?>` + between(""), ok, ""},
		{"PI named XML", between("<?XmL a?>"), "3:1", "only at the very beginning"},
		{"PI without a name", between("<? a?>"), "3:3", "no valid name"},
		{"PI without white space", between("<?a+b?>"), "3:4", "white space is missing"},
		{"PI not closed", between("<?a b>"), "3:1", "the processing instruction is not closed"},
		{"comment not closed", between("<!-- a"), "3:1", "the comment is not closed"},
		{"comment with three dashes", between("<!-- a --->"), "3:8", "-- inside a comment"},
		{"comment that begins with a dash", between("<!--->-->"), ok, ""},
		{"empty comment", between("<!---->"), ok, ""},
		{"CDATA not closed", inEvent("<![CDATA[ a"), "2:30", "the CDATA section is not closed"},
		{"CDATA with brackets", inEvent("<![CDATA[]]]]>]"), ok, ""},
		{"DOCTYPE inside", between("<!DOCTYPE a>"), "3:1", "DOCTYPE is refused"},
		{"declaration of an element inside", between("<!ELEMENT a>"), "3:2", "no valid name"},
		{"value not closed", "<EventStream a=\"b>\n</EventStream>", "2:1", "< in the value"},
		{"value cut off", `<EventStream a="b`, "1:16", "the value of attribute a is not closed"},
		{"reference cut off", `<EventStream a="&am`, "1:17", "& begins no reference"},
		{"reference with zeros", inAttr("&#" + strings.Repeat("0", 100) + "65;"), ok, ""},
		{"reference that is huge", inAttr("&#" + strings.Repeat("9", 100) + ";"), "2:35", "is not a known entity or an allowed character"},
		{"reference in capitals", inAttr("&#X41;"), "2:35", "&#X41;"},
		{"reference with a sign", inAttr("&#+65;"), "2:35", "& begins no reference"},
		{"reference to a noncharacter", inAttr("&#xFFFE;"), "2:35", "&#xFFFE;"},
		{"noncharacter", inEvent("\uFFFF"), "2:30", "U+FFFF is not allowed"},
		{"highest character", inEvent("\U0010FFFF"), ok, ""},
		{"control character beyond ASCII", inEvent("\u0085"), ok, ""},
		{"BOM twice", "\uFEFF\uFEFF" + between(""), "1:1", "no root element here"},
		{"BOM takes no column", "\uFEFFx", "1:1", "no root element here"},
		{"BOM inside", inEvent("\uFEFF"), ok, ""},
		{"utf-16 BE BOM", "\xfe\xff\x00<", "1:1", "UTF-16"},
		{"utf-16 without BOM", "<\x00E\x00", "1:1", "UTF-16"},
		{"utf-32 LE BOM", "\xff\xfe\x00\x00<\x00\x00\x00", "1:1", "UTF-32"},
		{"EBCDIC", "\x4c\x6f\xa7\x94", "1:1", "EBCDIC"},
		{"utf-8 declared after a BOM", "\uFEFF<?xml version=\"1.0\" encoding=\"utf-8\"?>" + between(""), ok, ""},
		{"names beyond ASCII", between("<größe ñ='1' 名·='2' \U00010000='3'/>"), ok, ""},
		{"name with a forbidden character", between("<a×b/>"), "3:3", "white space is missing"},
		{"name that begins with a combining one", between("<·a/>"), "3:2", "no valid name"},
		{"white space around =", inRoot("", " tag\t= \n 'a'", ""), ok, ""},
		{"white space in tags", "<EventStream\n>\n<Event id=\"00\" status=\"init\"\n/>\n</EventStream\t>", ok, ""},
		{"CRLF counts once", "<EventStream>\r\n\r\n<1/>", "3:2", "no valid name"},
		{"lone CR is a line end", "<EventStream>\r<1/>", "2:2", "no valid name"},
		{"columns are characters", "<EventStream>äöü&x", "1:17", "& begins no reference"},
		{"element not closed inside an event", "<EventStream><Event id=\"00\" status=\"init\"><a>\n", "2:1", "<a> is not closed"},
		{"end tag without a name", between("</>"), "3:3", "the end tag has no valid name"},
		{"end tag not closed", between("<x></x"), "3:7", "more than a name"},
		{"many attributes", "<EventStream" + manyAttrs(1000) + "></EventStream>", ok, ""},
		{"many attributes, one twice", "<EventStream" + manyAttrs(1000) + ` a7="x"></EventStream>`, "1:8904", "attribute a7 is given twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkVerdict(t, test.doc, test.place, test.msg) })
	}
}

func manyAttrs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ` a%d="%d"`, i, i%10)
	}
	return b.String()
}

// TestParse_Refused has what no Event-Stream may be, although it is XML.
func TestParse_Refused(t *testing.T) {
	deep := "00" + strings.Repeat(".00", 64)
	tests := []struct {
		name, events, place, msg string
	}{
		{"no id", `<Event status="init"/>`, "2:1", "the event has no id"},
		{"empty id", `<Event id="" status="init"/>`, "2:8", `invalid event id ""`},
		{"doubled id", `<Event id="00" status="init"/><Event status="init" id="00"/>`, "2:52", "two events have the id 00"},
		{"id of one digit", `<Event id="0" status="init"/>`, "2:8", "two or more digits"},
		{"id wider than needed", `<Event id="00" status="init"/><Event id="001" status="init"/>`, "2:38", "two or more digits"},
		{"id that is no number", `<Event id="../../x" status="init"/>`, "2:8", "two or more digits"},
		{"id with an empty number", `<Event id="01..00" status="init"/>`, "2:8", "two or more digits"},
		{"id with a sign", `<Event id="01.+1" status="init"/>`, "2:8", "two or more digits"},
		{"id with other digits", `<Event id="٠٠" status="init"/>`, "2:8", "two or more digits"},
		{"id with too large a number", `<Event id="1234567890" status="init"/>`, "2:8", "two or more digits"},
		{"id at the deepest", `<Event id="` + deep + `" status="init"/>`, ok, ""},
		{"id too deep", `<Event id="` + deep + `.00" status="init"/>`, "2:8", "deeper than 64"},
		{"no status", `<Event id="00"/>`, "2:1", "event 00 has no status"},
		{"unknown status", `<Event id="00" status="done"/>`, "2:16", `invalid status "done"`},
		{"status in capitals", `<Event id="00" status="Init"/>`, "2:16", `invalid status "Init"`},
		{"prev of the root", `<Event id="00" status="init" prev="00"/>`, "2:30", "the root and has no prev"},
		{"unknown prev", `<Event id="00" status="init"/><Event id="01" status="init" prev="02"/>`, "2:60", `prev of event 01 is "02", which does not exist`},
		{"unknown next", `<Event id="00" status="inprocess" next="01"/>`, "2:35", `next of event 00 has "01", which does not exist`},
		{"empty next", `<Event id="00" status="inprocess" next="01||02"/><Event id="01" prev="00" status="init"/><Event id="02" prev="00" status="init"/>`,
			"2:35", `next of event 00 has ""`},
		{"next that follows another", `<Event id="00" status="inprocess" next="01"/><Event id="01" status="init" prev="02"/><Event id="02" status="init" prev="00"/>`,
			"2:35", "the prev of 01 is not 00"},
		{"next twice", `<Event id="00" status="inprocess" next="01|01"/><Event id="01" status="init" prev="00"/>`, "2:35", "has 01 twice"},
		{"own prev", `<Event id="01" status="init" prev="01"/>`, "2:30", "event 01 is its own predecessor"},
		{"cycle", `<Event id="00" status="init"/>` + "\n" + `<Event id="01" status="init" prev="03"/><Event id="02" status="init" prev="01"/><Event id="03" status="init" prev="02"/>`,
			"3:30", "event 01 is its own predecessor"},
		{"cycle that is come to from outside", `<Event id="00" status="init" /><Event id="01" status="init" prev="02"/>` + "\n" +
			`<Event id="02" status="init" prev="03"/><Event id="03" status="init" prev="02"/>`, "3:30", "event 02 is its own predecessor"},
		{"next in a cycle", `<Event id="00" status="inprocess" next="01"/><Event id="01" status="inprocess" prev="00" next="00"/>`,
			"2:90", "the prev of 00 is not 01"},
		{"policy", `<Event id="00" status="init" policy="most"/>`, "2:30", `invalid failure policy "most"`},
		{"batch count", `<Event id="00" status="init" branches="-1"/>`, "2:30", `attribute branches is "-1", want a count`},
		{"batch count too large", `<Event id="00" status="init" failed="2147483648"/>`, "2:30", "want a count"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkVerdict(t, "<EventStream>\n"+test.events+"\n</EventStream>", test.place, test.msg)
		})
	}
	t.Run("another root", func(t *testing.T) {
		checkVerdict(t, "\n<eventstream/>", "2:1", "the root element is <eventstream>, want <EventStream>")
	})
	t.Run("a prefix on the root", func(t *testing.T) {
		checkVerdict(t, "<p:EventStream/>", "1:1", "the root element is <p:EventStream>")
	})
	t.Run("too large", func(t *testing.T) {
		_, err := eventstream.Parse(make([]byte, eventstream.MaxBytes+1))
		if !errors.Is(err, eventstream.ErrMalformed) || !strings.Contains(err.Error(), "268435457 bytes, the limit is 268435456") {
			t.Errorf("Parse of %d bytes = %v", eventstream.MaxBytes+1, err)
		}
	})
}

// TestParse_Hostile has documents on which a careless reader takes minutes or
// gigabytes.
func TestParse_Hostile(t *testing.T) {
	const n = 50_000
	chain := func(ids func(i int) (id, prev int)) string {
		var b strings.Builder
		b.WriteString("<EventStream>\n<Event id=\"00\" status=\"canceled\"/>\n")
		for i := range n {
			id, prev := ids(i)
			fmt.Fprintf(&b, "<Event id=%q status=\"init\" prev=%q/>\n", eventstream.JoinID("", id), eventstream.JoinID("", prev))
		}
		b.WriteString("</EventStream>")
		return b.String()
	}
	tests := []struct{ name, doc, msg string }{
		{"deep elements", between(strings.Repeat("<a>", n) + strings.Repeat("</a>", n)), ""},
		{"comments", between(strings.Repeat("<!--a-->", n)), ""},
		{"events in a comment", between("<!--" + strings.Repeat("<Event", n) + "-->"), ""},
		{"attributes", "<EventStream" + manyAttrs(n) + "/>", ""},
		{"a chain", chain(func(i int) (int, int) { return i + 1, i }), ""},
		{"a chain backwards", chain(func(i int) (int, int) { return n - i, n - i - 1 }), ""},
		{"a cycle", chain(func(i int) (int, int) { return i + 1, (i+1)%n + 1 }), "its own predecessor"},
		{"a high number", between(`<Event id="999999999" status="init"/>`), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := eventstream.Parse([]byte(test.doc))
			if test.msg != "" {
				if err == nil || !strings.Contains(err.Error(), test.msg) {
					t.Fatalf("Parse = %v, want …%s…", err, test.msg)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Edit(epoch, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if _, err := eventstream.Parse(s.Bytes()); err != nil {
				t.Error(err)
			}
		})
	}
}
