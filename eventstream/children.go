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
	var b strings.Builder
	size := len(e.raw) + 24*len(changes)
	for _, c := range changes {
		size += len(c.name) + len(c.value)
	}
	for _, c := range children {
		size += len(c.raw)
	}
	b.Grow(size)
	spliceTag(&b, e.tag(), changes)
	if len(children) == 0 {
		tagEnd = b.Len()
		b.WriteString(e.raw[e.tagEnd:])
		return b.String(), tagEnd
	}
	return rebuildContent(e, b.String(), children)
}

func rebuildContent(e *Event, tag string, children []child) (raw string, tagEnd int) {
	content, closing := e.raw[e.tagEnd:], ""
	if end := strings.LastIndex(content, "</"); end >= 0 {
		content, closing = content[:end], content[end:]
	}
	if open, ok := strings.CutSuffix(tag, "/>"); ok {
		tag, closing = open+">", "</"+eventName+">"
	}
	for _, c := range children {
		content = spliceChild(tag, content, closing, c)
	}
	if content == "" {
		return tag[:len(tag)-1] + "/>", len(tag) + 1
	}
	return tag + content + closing, len(tag)
}

func spliceChild(tag, content, closing string, c child) string {
	if c.isNew {
		return content + c.raw
	}
	probe := Event{raw: tag + content + closing, tagEnd: int32(len(tag))}
	for old := range probe.children() {
		if old.name == c.name {
			start, end := old.start-len(tag), old.end-len(tag)
			return content[:start] + c.raw + content[end:]
		}
	}
	return content + c.raw
}
