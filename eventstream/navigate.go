package eventstream

import (
	"iter"
	"strings"
)

// NodeKind is what a [Node] is.
type NodeKind uint8

// The kinds of a [Node].
const (
	ElementNode NodeKind = iota
	TextNode
	CommentNode
	InstructionNode
)

// Node is a piece of the document that is not an event: what stands around the
// events, or inside one.
type Node struct {
	Kind NodeKind
	Name string // of an element, as it is written, or the target of an instruction
	Text string // of a text, a comment or an instruction, unescaped
	XML  string // the node as it stands in the document

	// Places in the fragment: of the element around the node and of the sibling
	// before it, -1 if there is none, and the place after the last node inside it.
	Parent, Prev, End int

	start, tagEnd int // of the element in its source, of its start tag in XML
}

// Attrs yields the attributes of an element in the order of the document. A node
// of another kind has none.
func (n *Node) Attrs() iter.Seq2[string, string] {
	if n.Kind != ElementNode {
		return func(func(string, string) bool) {}
	}
	return tagAttrs(n.XML[:n.tagEnd])
}

// Fragment is a piece of the document as nodes in document order: an element
// stands before what it contains. Character data between two pieces of markup is
// one text, CDATA sections included.
//
// A fragment is read anew by each call that returns one, in time proportional to
// the length of the text it comes from.
type Fragment []Node

// Pos is the event's place in the document, from 0: s.At(e.Pos()) is e.
func (e *Event) Pos() int { return int(e.pos) }

// Content is what stands inside the event's element.
func (e *Event) Content() Fragment {
	if isEmptyTag(e.tag()) {
		return nil
	}
	f, _ := readFragment(e.raw, int(e.tagEnd))
	return f
}

// ContentXML is what Content is read from, with the end tag of the event.
func (e *Event) ContentXML() string { return e.raw[e.tagEnd:] }

// Replaced yields the superseded events in the order of the document. It costs
// nothing in a stream that has none and a walk over all events in any other.
func (s *Stream) Replaced() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		left := s.superseded
		for i := 0; left > 0 && i < len(s.events); i++ {
			if e := s.events[i]; e.Superseded() {
				left--
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Gap is what stands before event i and after the one before it, or after all
// events for i == Len.
func (s *Stream) Gap(i int) Fragment {
	if s.blank || isEmptyTag(s.rootTag) {
		return nil
	}
	f, _ := readFragment(s.GapXML(i), 0)
	return f
}

// GapXML is what Gap is read from; after all events, the rest of the document.
func (s *Stream) GapXML(i int) string {
	if i < len(s.events) {
		return s.events[i].pre
	}
	return s.after
}

// ElementXML is the root element with all that is in it, as it is written; "" for
// a document of 0 bytes.
func (s *Stream) ElementXML() string {
	if s.blank {
		return ""
	}
	document := string(s.Bytes())
	return document[len(s.before) : len(document)-len(s.after)+s.rootEnd()]
}

// rootEnd is where the root's end tag ends in what stands after the last event.
func (s *Stream) rootEnd() int {
	if isEmptyTag(s.rootTag) {
		return 0
	}
	_, end := readFragment(s.after, 0)
	return end + strings.IndexByte(s.after[end:], '>') + 1
}

// Prolog is what stands before the root element: comments and processing
// instructions.
func (s *Stream) Prolog() Fragment {
	if s.blank {
		return nil
	}
	sc := scanner{src: s.before}
	if sc.at("\uFEFF") {
		sc.pos += len("\uFEFF")
	}
	if sc.at("<?xml") && !isNameChar(sc.src[sc.pos+len("<?xml"):]) {
		sc.declaration()
	}
	return readMisc(s.before, sc.pos)
}

// Epilog is what stands after the root element: comments and processing
// instructions.
func (s *Stream) Epilog() Fragment {
	if s.blank {
		return nil
	}
	return readMisc(s.after, s.rootEnd())
}

func isEmptyTag(tag string) bool { return tag[len(tag)-2] == '/' }

// fragmentReader makes nodes of text that the scanner has accepted, so no error
// can come up.
type fragmentReader struct {
	scanner
	nodes  Fragment
	parent int // the element that is open, or -1
	prev   int // the sibling read last, or -1
}

// readFragment reads to the end tag of the element around the fragment, or to
// the end of src, and returns where that is.
func readFragment(src string, pos int) (f Fragment, end int) {
	r := fragmentReader{scanner: scanner{src: src, pos: pos}, parent: -1, prev: -1}
	for r.characters(); r.pos < len(src); r.characters() {
		if r.at("</") && r.parent < 0 {
			break
		}
		r.node()
	}
	return r.nodes, r.pos
}

// readMisc reads what may stand outside the root element, where white space is
// no text.
func readMisc(src string, pos int) Fragment {
	r := fragmentReader{scanner: scanner{src: src, pos: pos}, parent: -1, prev: -1}
	for r.space(); r.pos < len(src); r.space() {
		r.node()
	}
	return r.nodes
}

// characters reads text and CDATA sections as one node.
func (r *fragmentReader) characters() {
	start := r.pos
	text := r.plainText()
	if r.at(cdataOpen) {
		var all strings.Builder
		all.WriteString(text)
		for r.at(cdataOpen) {
			all.WriteString(lineEnds(r.between(cdataOpen, cdataEnd, "the CDATA section")))
			all.WriteString(r.plainText())
		}
		text = all.String()
	}
	if text != "" {
		r.add(Node{Kind: TextNode, Text: text, XML: r.src[start:r.pos]})
	}
}

func (r *fragmentReader) plainText() string {
	start := r.pos
	r.text()
	return unescapeText(r.src[start:r.pos])
}

func (r *fragmentReader) node() {
	start := r.pos
	switch {
	case r.at("</"):
		r.close()
	case r.at("<!--"):
		r.comment()
		xml := r.src[start:r.pos]
		r.add(Node{Kind: CommentNode, Text: lineEnds(xml[len("<!--") : len(xml)-len("-->")]), XML: xml})
	case r.at("<?"):
		r.instruction()
		xml := r.src[start:r.pos]
		inner := xml[len("<?") : len(xml)-len("?>")]
		n := nameLen(inner)
		data := strings.TrimLeft(inner[n:], " \t\r\n")
		r.add(Node{Kind: InstructionNode, Name: inner[:n], Text: lineEnds(data), XML: xml})
	default:
		r.open()
	}
}

func (r *fragmentReader) open() {
	el := r.startTag()
	place := r.add(Node{
		Kind: ElementNode, Name: el.name, XML: r.src[el.start:r.pos],
		start: el.start, tagEnd: el.tagEnd - el.start,
	})
	if !el.empty {
		r.parent, r.prev = place, -1
	}
}

func (r *fragmentReader) close() {
	place := r.parent
	n := &r.nodes[place]
	r.endTag(n.Name)
	n.XML, n.End = r.src[n.start:r.pos], len(r.nodes)
	r.parent, r.prev = n.Parent, place
}

// add appends a node that has nothing inside it so far and returns its place.
func (r *fragmentReader) add(n Node) int {
	place := len(r.nodes)
	n.Parent, n.Prev, n.End = r.parent, r.prev, place+1
	r.nodes = append(r.nodes, n)
	r.prev = place
	return place
}
