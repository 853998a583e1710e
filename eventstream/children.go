package eventstream

import (
	"iter"
	"strconv"
	"strings"
)

// childSpan is a child element of an event, in raw.
type childSpan struct {
	name               string
	start, tagEnd, end int
	raw                string // the element
}

// children yields the child elements of an event. What the scanner accepted is
// scanned again here, so no error can come up.
func (e *Event) children() iter.Seq[childSpan] {
	return func(yield func(childSpan) bool) {
		if isEmptyTag(e.tag()) {
			return
		}
		sc := &scanner{src: e.raw, pos: int(e.tagEnd)}
		for {
			sc.text()
			switch {
			case sc.at("</"):
				return
			case sc.markup():
			default:
				el := sc.startTag()
				if !el.empty {
					sc.content(&el)
				}
				c := childSpan{el.name, el.start, el.tagEnd - el.start, el.end, e.raw[el.start:el.end]}
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (c childSpan) attr(name string) string {
	value, _ := tagAttr(c.raw[:c.tagEnd], name)
	return value
}

// text is the character data of an element, CDATA included, markup and nested
// elements left out.
func (c childSpan) text() string {
	inner := c.raw[c.tagEnd:]
	if simple, ok := strings.CutSuffix(inner, "</"+c.name+">"); ok && strings.IndexByte(simple, '<') < 0 {
		return unescapeText(simple)
	}
	var b strings.Builder
	sc := &scanner{src: c.raw, pos: c.tagEnd}
	for depth := 1; sc.pos < len(sc.src); {
		start := sc.pos
		sc.text()
		if depth == 1 {
			b.WriteString(unescapeText(sc.src[start:sc.pos]))
		}
		switch {
		case sc.pos >= len(sc.src):
		case sc.at(cdataOpen):
			data := sc.between(cdataOpen, cdataEnd, "the CDATA section")
			if depth == 1 {
				b.WriteString(lineEnds(data))
			}
		case sc.markup():
		case sc.at("</"):
			sc.between("</", ">", "the end tag")
			depth--
		default:
			if !sc.startTag().empty {
				depth++
			}
		}
	}
	return b.String()
}

func lineEnds(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (c childSpan) payload() Payload {
	if p := c.reference(); p.Ref != "" {
		return p
	}
	return Payload{JSON: []byte(c.text())}
}

// reference is the blob that an element refers to; its Ref is "" if there is none.
func (c childSpan) reference() Payload {
	ref := c.attr("ref")
	if ref == "" {
		return Payload{}
	}
	size, _ := strconv.ParseInt(c.attr("bytes"), 10, 64)
	return Payload{Ref: ref, Bytes: size, SHA256: c.attr("sha256")}
}

// child is a change to the child elements of an event: the element that takes
// the place of the first one of its name, or is appended.
type child struct {
	name  string
	raw   string // the new element; "" removes the old one
	isNew bool   // leave what there is of this name
}

// rebuild writes an event with changes to its attributes and children.
func rebuild(e *Event, changes []change, children []child) (raw string, tagEnd int) {
	if len(children) == 0 {
		var b strings.Builder
		b.Grow(roomFor(e, changes))
		spliceTag(&b, e.tag(), changes)
		tagEnd = b.Len()
		b.WriteString(e.raw[e.tagEnd:])
		return b.String(), tagEnd
	}
	raw, tagEnd = rebuildChild(e, changes, children[0])
	for _, c := range children[1:] {
		raw, tagEnd = rebuildChild(&Event{raw: raw, tagEnd: int32(tagEnd)}, nil, c)
	}
	return raw, tagEnd
}

// roomFor is how many bytes an event with changes takes, or some more.
func roomFor(e *Event, changes []change) int {
	size := len(e.raw) + 24*len(changes)
	for _, c := range changes {
		size += len(c.name) + len(c.value)
	}
	return size
}

// rebuildChild writes an event with changes to its attributes and one child.
func rebuildChild(e *Event, changes []change, c child) (raw string, tagEnd int) {
	tag, before, after, closing := e.tag(), "", "", "</"+eventName+">"
	if open, ok := strings.CutSuffix(tag, "/>"); ok {
		tag = open + ">"
	} else {
		start, end, contentEnd := e.placeOf(c)
		before, after, closing = e.raw[e.tagEnd:start], e.raw[end:contentEnd], e.raw[contentEnd:]
	}
	var b strings.Builder
	b.Grow(roomFor(e, changes) + len(c.raw) + len(closing))
	spliceTag(&b, tag, changes)
	tagEnd = b.Len()
	if len(before)+len(c.raw)+len(after) == 0 {
		tag = b.String()
		return tag[:tagEnd-1] + "/>", tagEnd + 1
	}
	b.WriteString(before)
	b.WriteString(c.raw)
	b.WriteString(after)
	b.WriteString(closing)
	return b.String(), tagEnd
}

// placeOf is where a child goes in an event with content: over the first one of
// its name, or else to the end of the content.
func (e *Event) placeOf(c child) (start, end, contentEnd int) {
	contentEnd = strings.LastIndex(e.raw, "</")
	if !c.isNew {
		for old := range e.children() {
			if old.name == c.name {
				return old.start, old.end, contentEnd
			}
		}
	}
	return contentEnd, contentEnd, contentEnd
}
