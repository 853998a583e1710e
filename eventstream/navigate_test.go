package eventstream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

const navigated = "\ufeff<?xml version='1.0'?>\n<!--a--> <?go  now?>\n<EventStream name='n'>lead<Event id='00' status='init'/>\r\n" +
	"<note k='1'>x<b/>y&lt;<![CDATA[<z>]]>w</note><!--c--><Event id='01' status='init'>" +
	"<Input><a><b>t</b></a><c></c></Input> <?pi?></Event>\n</EventStream >\n<!--end-->"

// fragmentLines writes a fragment with the places of its nodes.
func fragmentLines(f eventstream.Fragment) string {
	var b strings.Builder
	for i, n := range f {
		var attrs []string
		for name, value := range n.Attrs() {
			attrs = append(attrs, name+"="+value)
		}
		fmt.Fprintf(&b, "%d %c%q%q%q%s ^%d <%d >%d\n", i, "etci"[n.Kind], n.Name, n.Text, n.XML, attrs, n.Parent, n.Prev, n.End)
	}
	return b.String()
}

func TestFragment(t *testing.T) {
	s, err := eventstream.Parse([]byte(navigated))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		got  eventstream.Fragment
		want []string
	}{
		{"prolog", s.Prolog(), []string{
			`0 c"""a""<!--a-->"[] ^-1 <-1 >1`,
			`1 i"go""now""<?go  now?>"[] ^-1 <0 >2`,
		}},
		{"gap 0", s.Gap(0), []string{`0 t"""lead""lead"[] ^-1 <-1 >1`}},
		{"gap 1", s.Gap(1), []string{
			`0 t"""\n""\r\n"[] ^-1 <-1 >1`,
			`1 e"note""""<note k='1'>x<b/>y&lt;<![CDATA[<z>]]>w</note>"[k=1] ^-1 <0 >5`,
			`2 t"""x""x"[] ^1 <-1 >3`,
			`3 e"b""""<b/>"[] ^1 <2 >4`,
			`4 t"""y<<z>w""y&lt;<![CDATA[<z>]]>w"[] ^1 <3 >5`,
			`5 c"""c""<!--c-->"[] ^-1 <1 >6`,
		}},
		{"gap 2", s.Gap(2), []string{`0 t"""\n""\n"[] ^-1 <-1 >1`}},
		{"epilog", s.Epilog(), []string{`0 c"""end""<!--end-->"[] ^-1 <-1 >1`}},
		{"event 00", s.At(0).Content(), nil},
		{"event 01", s.At(1).Content(), []string{
			`0 e"Input""""<Input><a><b>t</b></a><c></c></Input>"[] ^-1 <-1 >5`,
			`1 e"a""""<a><b>t</b></a>"[] ^0 <-1 >4`,
			`2 e"b""""<b>t</b>"[] ^1 <-1 >4`,
			`3 t"""t""t"[] ^2 <-1 >4`,
			`4 e"c""""<c></c>"[] ^0 <1 >5`,
			`5 t""" "" "[] ^-1 <0 >6`,
			`6 i"pi""""<?pi?>"[] ^-1 <5 >7`,
		}},
	} {
		want := strings.Join(append(test.want, ""), "\n")
		if got := fragmentLines(test.got); got != want {
			t.Errorf("%s:\n%swant\n%s", test.name, got, want)
		}
	}
	element := navigated[strings.Index(navigated, "<EventStream") : strings.Index(navigated, "</EventStream >")+len("</EventStream >")]
	if got := s.ElementXML(); got != element {
		t.Errorf("ElementXML() = %q, want %q", got, element)
	}
}

func TestFragment_NothingThere(t *testing.T) {
	for document, want := range map[string]string{
		"":                              "",
		"<EventStream/>":                "<EventStream/>",
		"<EventStream />\n":             "<EventStream />",
		"<EventStream  ></EventStream>": "<EventStream  ></EventStream>",
	} {
		s, err := eventstream.Parse([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Prolog()) + len(s.Gap(0)) + len(s.Epilog()); n != 0 {
			t.Errorf("%q has %d nodes around its events, want none", document, n)
		}
		if got := s.ElementXML(); got != want {
			t.Errorf("%q: ElementXML() = %q, want %q", document, got, want)
		}
	}
}

func TestStream_Replaced(t *testing.T) {
	s, err := eventstream.Parse([]byte(`<EventStream><Event id="00" status="inprocess" next="02.00"/>` +
		`<Event id="01.00" prev="00" status="canceled" superseded="x"/><Event id="02.00" prev="00" status="init"/>` +
		`<Event id="01.01" prev="01.00" status="canceled" superseded="x"/></EventStream>`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := range s.Replaced() {
		got = append(got, fmt.Sprint(e.Pos(), " ", e.ID()))
		if s.At(e.Pos()) != e {
			t.Errorf("At(%d) is not event %s", e.Pos(), e.ID())
		}
	}
	if want := []string{"1 01.00", "3 01.01"}; !slices.Equal(got, want) {
		t.Errorf("Replaced() = %q, want %q", got, want)
	}
}
