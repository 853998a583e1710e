package eventstream

import "strings"

// misc reads comments, processing instructions and white space.
func (sc *scanner) misc() {
	for {
		sc.space()
		switch {
		case sc.at("<!--"):
			sc.comment()
		case sc.at("<?"):
			sc.instruction()
		case sc.at("<!DOCTYPE"):
			sc.fail(sc.pos, "a DOCTYPE is refused")
		default:
			return
		}
	}
}

// declaration reads the XML declaration.
func (sc *scanner) declaration() {
	start := sc.pos
	sc.pos += len("<?xml")
	want := []string{"version", "encoding", "standalone"}
	for {
		spaced := sc.space()
		if sc.at("?>") {
			break
		}
		at := sc.pos
		if !spaced {
			sc.fail(at, "white space is missing in the XML declaration")
		}
		var a rawAttr
		sc.attribute(&a)
		name := sc.attrName(&a)
		for len(want) > 0 && want[0] != name {
			if want[0] == "version" {
				sc.fail(at, "the XML declaration does not begin with version")
			}
			want = want[1:]
		}
		if len(want) == 0 {
			sc.fail(at, "unexpected %q in the XML declaration", name)
		}
		want = want[1:]
		sc.declared(at, name, sc.rawValue(&a))
	}
	if len(want) == 3 {
		sc.fail(start, "the XML declaration has no version")
	}
	sc.pos += len("?>")
}

func (sc *scanner) declared(at int, name, value string) {
	switch {
	case name == "version" && value != "1.0":
		sc.fail(at, "XML version %q is not supported; an event-stream is XML 1.0", value)
	case name == "encoding" && !strings.EqualFold(value, "utf-8"):
		sc.fail(at, "the encoding is %q; an event-stream is UTF-8", value)
	case name == "standalone" && value != "yes" && value != "no":
		sc.fail(at, "standalone is %q, want yes or no", value)
	}
}

func (sc *scanner) comment() {
	sc.between("<!--", "--", "the comment")
	if !sc.at(">") {
		sc.fail(sc.pos-len("--"), "-- inside a comment")
	}
	sc.pos++
}

func (sc *scanner) instruction() {
	start := sc.pos
	sc.pos += len("<?")
	target := sc.name("the processing instruction")
	if strings.EqualFold(target, "xml") {
		sc.fail(start, "an XML declaration is allowed only at the very beginning")
	}
	if !sc.at("?>") && !sc.space() {
		sc.fail(sc.pos, "white space is missing after <?%s", target)
	}
	sc.pos = start
	sc.between("<?", "?>", "the processing instruction")
}
