package eventstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// places writes a fragment's nodes with their places in it.
func places(f eventstream.Fragment) string {
	var b strings.Builder
	for i, n := range f {
		fmt.Fprintf(&b, "%d:%s%s(%d %d %d) ", i, n.Name, n.Text, n.Parent, n.Prev, n.End)
	}
	return b.String()
}

func TestStream_Fragments(t *testing.T) {
	r := parse(t, "\uFEFF<?xml version='1.0'?><!--a--> <?p q?>\n<EventStream>t<x y='1'>u<z/>v</x><Event id=\"00\" status=\"init\"><![CDATA[<]]>&gt;<i/>j</Event>"+
		"<Event id=\"01\" status=\"init\"/> <!--e--></EventStream >\n<!--f-->")
	for _, test := range []struct {
		what string
		got  eventstream.Fragment
		want string
	}{
		{"Prolog", r.Prolog(), "0:a(-1 -1 1) 1:pq(-1 0 2) "},
		{"Gap(0)", r.Gap(0), "0:t(-1 -1 1) 1:x(-1 0 5) 2:u(1 -1 3) 3:z(1 2 4) 4:v(1 3 5) "},
		{"Content", r.Root().Content(), "0:<>(-1 -1 1) 1:i(-1 0 2) 2:j(-1 1 3) "},
		{"Gap(1)", r.Gap(1), ""},
		{"Content of an empty element", r.Event("01").Content(), ""},
		{"Gap(2)", r.Gap(2), "0: (-1 -1 1) 1:e(-1 0 2) "},
		{"Epilog", r.Epilog(), "0:f(-1 -1 1) "},
	} {
		if got := places(test.got); got != test.want {
			t.Errorf("%s = %s, want %s", test.what, got, test.want)
		}
	}
	if got := r.Event("01").Pos(); r.At(got) != r.Event("01") {
		t.Errorf("Pos() = %d", got)
	}
	for name, f := range map[string]eventstream.Fragment{
		"prolog of nothing": parse(t, "").Prolog(), "gap of nothing": parse(t, "").Gap(0), "epilog of nothing": parse(t, "").Epilog(),
		"gap of an empty root": parse(t, "<EventStream/>").Gap(0), "epilog of an empty root": parse(t, "<EventStream/>").Epilog(),
	} {
		if len(f) > 0 {
			t.Errorf("%s = %v, want none", name, f)
		}
	}
	if n := r.Gap(0)[0]; n.Kind != eventstream.TextNode || len(pairsOf(n.Attrs())) > 0 {
		t.Errorf("a text is %v with attributes %s", n.Kind, pairsOf(n.Attrs()))
	}
}
