package eventstream

import "strings"

// scanner checks a document against XML 1.0 and finds where its events lie. It
// is strict because a document that two parsers read differently is a document
// that two workers edit differently.
type scanner struct {
	src   string
	pos   int
	attrs []rawAttr           // of the start tag read last; reused
	names map[string]struct{} // of its first attributes, where there are many
	stack []string            // open elements below the one being read; reused
}

// rawAttr is an attribute as it stands in the document.
type rawAttr struct {
	name, value string
	at          int  // where the name begins
	plain       bool // the value needs no unescaping
}

func (a rawAttr) unescaped() string {
	if a.plain {
		return a.value
	}
	return unescapeAttr(a.value)
}

// element is a start tag and, for an event, the whole element.
type element struct {
	start, tagEnd, end int
	name               string
	empty              bool
}

func (sc *scanner) fail(at int, format string, args ...any) {
	panic(bailout{syntaxError(sc.src, at, format, args...)})
}

func (sc *scanner) at(prefix string) bool { return strings.HasPrefix(sc.src[sc.pos:], prefix) }

// space skips white space and reports whether there was any.
func (sc *scanner) space() bool {
	start := sc.pos
	for sc.pos < len(sc.src) && isSpace(sc.src[sc.pos]) {
		sc.pos++
	}
	return sc.pos > start
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// between reads from open, which stands here, to the next end mark, and returns
// what lies between them.
func (sc *scanner) between(open, end, what string) string {
	start := sc.pos + len(open)
	n := strings.Index(sc.src[start:], end)
	if n < 0 {
		sc.fail(sc.pos, "%s is not closed", what)
	}
	sc.pos = start + n + len(end)
	return sc.src[start : start+n]
}

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
		a := sc.attribute()
		for len(want) > 0 && want[0] != a.name {
			if want[0] == "version" {
				sc.fail(at, "the XML declaration does not begin with version")
			}
			want = want[1:]
		}
		if len(want) == 0 {
			sc.fail(at, "unexpected %q in the XML declaration", a.name)
		}
		want = want[1:]
		sc.declared(a)
	}
	if len(want) == 3 {
		sc.fail(start, "the XML declaration has no version")
	}
	sc.pos += len("?>")
}

func (sc *scanner) declared(a rawAttr) {
	switch {
	case a.name == "version" && a.value != "1.0":
		sc.fail(a.at, "XML version %q is not supported; an event-stream is XML 1.0", a.value)
	case a.name == "encoding" && !strings.EqualFold(a.value, "utf-8"):
		sc.fail(a.at, "the encoding is %q; an event-stream is UTF-8", a.value)
	case a.name == "standalone" && a.value != "yes" && a.value != "no":
		sc.fail(a.at, "standalone is %q, want yes or no", a.value)
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

// name reads an XML name.
func (sc *scanner) name(what string) string {
	start := sc.pos
	n := nameLen(sc.src[start:])
	if n == 0 {
		sc.fail(start, "%s has no valid name", what)
	}
	sc.pos += n
	return sc.src[start:sc.pos]
}

// attribute reads name="value" and checks the value.
func (sc *scanner) attribute() rawAttr {
	a := rawAttr{at: sc.pos, plain: true}
	a.name = sc.name("the attribute")
	sc.space()
	if !sc.at("=") {
		sc.fail(a.at, "attribute %s has no value", a.name)
	}
	sc.pos++
	sc.space()
	if !sc.at(`"`) && !sc.at("'") {
		sc.fail(sc.pos, "the value of attribute %s is not quoted", a.name)
	}
	open := sc.pos
	sc.pos++
	for sc.pos < len(sc.src) {
		switch c := sc.src[sc.pos]; {
		case byteClass[c]&plainValue != 0:
			sc.pos++
		case c == sc.src[open]:
			a.value = sc.src[open+1 : sc.pos]
			sc.pos++
			return a
		case c == '<':
			sc.fail(sc.pos, "< in the value of attribute %s", a.name)
		case c == '&':
			a.plain = false
			sc.reference()
		default: // the other quote, or white space
			a.plain = a.plain && !isSpace(c)
			sc.pos++
		}
	}
	sc.fail(open, "the value of attribute %s is not closed", a.name)
	return a
}

// reference reads a character or entity reference.
func (sc *scanner) reference() {
	start := sc.pos + 1
	end := start
	for end < len(sc.src) && byteClass[sc.src[end]]&inReference != 0 {
		end++
	}
	if end == len(sc.src) || sc.src[end] != ';' {
		sc.fail(sc.pos, "& begins no reference; write &amp;")
	}
	if _, ok := resolve(sc.src[start:end]); !ok {
		sc.fail(sc.pos, "&%s; is not a known entity or an allowed character", sc.src[start:end])
	}
	sc.pos = end + 1
}

// startTag reads a start tag; sc.attrs has its attributes afterwards.
func (sc *scanner) startTag() element {
	el := element{start: sc.pos}
	sc.pos++
	el.name = sc.name("the element")
	sc.attrs, sc.names = sc.attrs[:0], nil
	var seen uint64
	for {
		spaced := sc.space()
		switch {
		case sc.at("/>"):
			sc.pos += 2
			el.empty, el.tagEnd, el.end = true, sc.pos, sc.pos
			return el
		case sc.at(">"):
			sc.pos++
			el.tagEnd = sc.pos
			return el
		case sc.pos >= len(sc.src):
			sc.fail(el.start, "the tag <%s is not closed", el.name)
		case !spaced:
			sc.fail(sc.pos, "white space is missing before an attribute of <%s>", el.name)
		}
		a := sc.attribute()
		// A bit that is not set yet proves the name new without a look at the others.
		bit := uint64(1) << (nameHash(a.name) & 63)
		if seen&bit != 0 && sc.hasAttr(a.name) {
			sc.fail(a.at, "attribute %s is given twice", a.name)
		}
		seen |= bit
		sc.attrs = append(sc.attrs, a)
	}
}

func nameHash(name string) uint32 {
	h := uint32(len(name))
	for i := range len(name) {
		h = h*31 + uint32(name[i])
	}
	return h ^ h>>7
}

// manyAttrs is where looking at each attribute becomes slower than a map. A
// hostile tag has millions.
const manyAttrs = 64

func (sc *scanner) hasAttr(name string) bool {
	if len(sc.attrs) < manyAttrs {
		for _, a := range sc.attrs {
			if a.name == name {
				return true
			}
		}
		return false
	}
	if sc.names == nil {
		sc.names = map[string]struct{}{}
	}
	for _, a := range sc.attrs[len(sc.names):] {
		sc.names[a.name] = struct{}{}
	}
	_, ok := sc.names[name]
	return ok
}

// content reads up to and over the end tag of el, nested elements included.
func (sc *scanner) content(el *element) {
	sc.stack = append(sc.stack[:0], el.name)
	for len(sc.stack) > 0 {
		sc.text()
		open := sc.stack[len(sc.stack)-1]
		switch {
		case sc.pos >= len(sc.src):
			sc.fail(sc.pos, "the document ends, and <%s> is not closed", open)
		case sc.at("</"):
			sc.endTag(open)
			sc.stack = sc.stack[:len(sc.stack)-1]
		case sc.markup():
		default:
			if child := sc.startTag(); !child.empty {
				sc.stack = append(sc.stack, child.name)
			}
		}
	}
	el.end = sc.pos
}

// markup reads a comment, a CDATA section or a processing instruction inside
// an element, if there is one.
func (sc *scanner) markup() bool {
	switch {
	case sc.at("<!--"):
		sc.comment()
	case sc.at(cdataOpen):
		sc.between(cdataOpen, cdataEnd, "the CDATA section")
	case sc.at("<?"):
		sc.instruction()
	case sc.at("<!DOCTYPE"):
		sc.fail(sc.pos, "a DOCTYPE is refused")
	default:
		return false
	}
	return true
}

const (
	cdataOpen = "<![CDATA["
	cdataEnd  = "]]>"
)

// text reads character data up to the next <.
func (sc *scanner) text() {
	for sc.pos < len(sc.src) {
		switch c := sc.src[sc.pos]; {
		case c == '<':
			return
		case c == '&':
			sc.reference()
		case c == ']' && sc.at(cdataEnd):
			sc.fail(sc.pos, "]]> in text; write ]]&gt;")
		default:
			sc.pos++
		}
	}
}

func (sc *scanner) endTag(want string) {
	at := sc.pos
	sc.pos += len("</")
	if name := sc.name("the end tag"); name != want {
		sc.fail(at, "</%s> closes <%s>", name, want)
	}
	sc.space()
	if !sc.at(">") {
		sc.fail(sc.pos, "the end tag </%s has more than a name", want)
	}
	sc.pos++
}
