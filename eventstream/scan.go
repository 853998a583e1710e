package eventstream

import "strings"

// scanner checks a document against XML 1.0 and finds where its events lie. It
// is strict because a document that two parsers read differently is a document
// that two workers edit differently.
type scanner struct {
	src   string
	pos   int
	attrs []rawAttr           // of the start tag read last; behind them, of those before
	names map[string]struct{} // of its first attributes, where there are many
	stack []string            // open elements below the one being read; reused
}

// rawAttr is where an attribute stands in the document. It has no pointers, which
// would cost more than all the rest.
type rawAttr struct {
	at, nameEnd       int32 // the name
	valueAt, valueEnd int32 // the value, without its quotes
	plain             bool  // the value needs no unescaping
	hash              uint8 // of the name
	kind              attrKind
}

func (sc *scanner) attrName(a *rawAttr) string { return sc.src[a.at:a.nameEnd] }

func (sc *scanner) rawValue(a *rawAttr) string { return sc.src[a.valueAt:a.valueEnd] }

// attrValue is "" for an attribute that is not there.
func (sc *scanner) attrValue(a *rawAttr) string {
	switch {
	case a == nil:
		return ""
	case a.plain:
		return sc.rawValue(a)
	}
	return unescapeAttr(sc.rawValue(a))
}

// element is a start tag and, for an event, the whole element.
type element struct {
	start, tagEnd, end int
	name               string
	empty              bool
}

// reset makes the scanner read another text.
func (sc *scanner) reset(src string) {
	clear(sc.attrs[:cap(sc.attrs)]) // they are places in the text before
	sc.src, sc.pos = src, 0
}

func (sc *scanner) fail(at int, format string, args ...any) {
	panic(bailout{syntaxError(sc.src, at, format, args...)})
}

func (sc *scanner) at(prefix string) bool { return strings.HasPrefix(sc.src[sc.pos:], prefix) }

// space skips white space and reports whether there was any.
func (sc *scanner) space() bool {
	start, i := sc.pos, sc.pos
	for i < len(sc.src) && isSpace(sc.src[i]) {
		i++
	}
	sc.pos = i
	return i > start
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r') }

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

// attribute reads name="value". Before, a is the attribute that stood at this place
// of an earlier tag, or zero: most often the two have the same name, and not seldom
// the same value.
func (sc *scanner) attribute(a *rawAttr) {
	shift := int32(sc.pos) - a.at
	switch {
	case a.valueAt == 0:
		sc.openAttribute(a)
		sc.value(a)
	case sc.at(sc.src[a.at : a.valueEnd+1]):
		a.at, a.nameEnd, a.valueAt, a.valueEnd = a.at+shift, a.nameEnd+shift, a.valueAt+shift, a.valueEnd+shift
		sc.pos = int(a.valueEnd) + 1
	case sc.at(sc.src[a.at:a.valueAt]):
		a.at, a.nameEnd = a.at+shift, a.nameEnd+shift
		sc.pos = int(a.valueAt + shift)
		sc.value(a)
	default:
		sc.openAttribute(a)
		sc.value(a)
	}
}

// openAttribute reads an attribute up to its value.
func (sc *scanner) openAttribute(a *rawAttr) {
	at := sc.pos
	name := sc.name("the attribute")
	sc.space()
	if !sc.at("=") {
		sc.fail(at, "attribute %s has no value", name)
	}
	sc.pos++
	sc.space()
	if !sc.at(`"`) && !sc.at("'") {
		sc.fail(sc.pos, "the value of attribute %s is not quoted", name)
	}
	sc.pos++
	a.at, a.nameEnd = int32(at), int32(at+len(name))
	a.hash, a.kind = nameHash(name), kindOf(name)
}

// value reads the value of an attribute and the quote behind it.
func (sc *scanner) value(a *rawAttr) {
	start, quote := sc.pos, sc.src[sc.pos-1]
	a.plain = true
	for i := skipPlain(sc.src, start); i < len(sc.src); i = skipPlain(sc.src, i) {
		switch c := sc.src[i]; {
		case c == quote:
			a.valueAt, a.valueEnd = int32(start), int32(i)
			sc.pos = i + 1
			return
		case c == '<':
			sc.fail(i, "< in the value of attribute %s", sc.attrName(a))
		case c == '&':
			a.plain = false
			i = sc.reference(i)
		default:
			a.plain = a.plain && !isSpace(c)
			i++
		}
	}
	sc.fail(start-1, "the value of attribute %s is not closed", sc.attrName(a))
}

// reference checks the character or entity reference that begins at i, and
// returns where it ends.
func (sc *scanner) reference(i int) int {
	end := i + 1
	for end < len(sc.src) && byteClass[sc.src[end]]&inReference != 0 {
		end++
	}
	if end == len(sc.src) || sc.src[end] != ';' {
		sc.fail(i, "& begins no reference; write &amp;")
	}
	if _, ok := resolve(sc.src[i+1 : end]); !ok {
		sc.fail(i, "&%s; is not a known entity or an allowed character", sc.src[i+1:end])
	}
	return end + 1
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
		case sc.pos >= len(sc.src):
			sc.fail(el.start, "the tag <%s is not closed", el.name)
		case sc.src[sc.pos] == '>':
			sc.pos++
			el.tagEnd = sc.pos
			return el
		case sc.src[sc.pos] == '/' && sc.at("/>"):
			sc.pos += 2
			el.empty, el.tagEnd, el.end = true, sc.pos, sc.pos
			return el
		case !spaced:
			sc.fail(sc.pos, "white space is missing before an attribute of <%s>", el.name)
		}
		a := sc.nextAttr()
		sc.attribute(a)
		// A bit that is not set yet proves the name new without a look at the others.
		bit := uint64(1) << a.hash
		if seen&bit != 0 && sc.isDoubled(a) {
			sc.fail(int(a.at), "attribute %s is given twice", sc.attrName(a))
		}
		seen |= bit
	}
}

// nextAttr gives a place for one more attribute. What is there is left as it is.
func (sc *scanner) nextAttr() *rawAttr {
	n := len(sc.attrs)
	if n < cap(sc.attrs) {
		sc.attrs = sc.attrs[:n+1]
	} else {
		sc.attrs = append(sc.attrs, rawAttr{})
	}
	return &sc.attrs[n]
}

// manyAttrs is where looking at each attribute becomes slower than a map. A
// hostile tag has millions.
const manyAttrs = 64

// isDoubled reports whether an attribute before the last one has its name.
func (sc *scanner) isDoubled(last *rawAttr) bool {
	name, before := sc.attrName(last), sc.attrs[:len(sc.attrs)-1]
	if len(before) < manyAttrs {
		for i := range before {
			if sc.attrName(&before[i]) == name {
				return true
			}
		}
		return false
	}
	if sc.names == nil {
		sc.names = map[string]struct{}{}
	}
	for i := len(sc.names); i < len(before); i++ {
		sc.names[sc.attrName(&before[i])] = struct{}{}
	}
	_, ok := sc.names[name]
	return ok
}

// content reads up to and over the end tag of el, nested elements included.
func (sc *scanner) content(el *element) {
	if sc.text(); sc.at("</") { // nothing but text, as most
		sc.endTag(el.name)
		el.end = sc.pos
		return
	}
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
	i := sc.pos
	for i < len(sc.src) && sc.src[i] != '<' {
		switch c := sc.src[i]; {
		case c == '&':
			i = sc.reference(i)
			continue
		case c == ']' && strings.HasPrefix(sc.src[i:], cdataEnd):
			sc.fail(i, "]]> in text; write ]]&gt;")
		}
		i++
	}
	sc.pos = i
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
