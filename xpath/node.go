package xpath

import (
	"context"
	"math"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// NodeKind is what a [Node] is.
type NodeKind uint8

// The kinds of nodes.
const (
	DocumentNode NodeKind = iota
	EventNode             // an <Event> of the stream
	ElementNode           // any other element
	AttributeNode
	TextNode
	CommentNode
	InstructionNode
)

// Node is a node of the document. It is valid until the stream is edited.
type Node struct {
	kind   NodeKind
	name   string
	value  string             // but of the document, <EventStream> and an event
	xml    string             // likewise
	event  *eventstream.Event // which the node is or stands in
	stream *eventstream.Stream
}

// Kind is what the node is.
func (n Node) Kind() NodeKind { return n.kind }

// Name is the name of an element, an attribute or a processing instruction, with
// its prefix.
func (n Node) Name() string { return n.name }

// Event is the event that the node is; nil if it is something else.
func (n Node) Event() *eventstream.Event {
	if n.kind != EventNode {
		return nil
	}
	return n.event
}

// Within is the event that the node is or stands in; nil outside of all events.
func (n Node) Within() *eventstream.Event { return n.event }

// Value is the string-value of the node: of an attribute its value, of an element
// all the text in it.
func (n Node) Value() string {
	switch {
	case n.isWhole():
		return unlimited(n.stream).allText()
	case n.kind == EventNode:
		return unlimited(n.stream).textOf(n.event.Content())
	}
	return n.value
}

// XML is the node as it stands in the document; an attribute as name="value".
func (n Node) XML() string {
	switch {
	case n.kind == DocumentNode:
		return string(n.stream.Bytes())
	case n.isWhole():
		return n.stream.ElementXML()
	case n.kind == EventNode:
		return n.event.XML()
	case n.kind == AttributeNode:
		return n.name + `="` + attributeEscaper.Replace(n.value) + `"`
	}
	return n.xml
}

var attributeEscaper = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", `"`, "&quot;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")

// describe names the node in messages.
func (n Node) describe() string {
	what := [...]string{"the document", "event", "element", "attribute", "a text", "a comment", "an instruction"}[n.kind]
	if n.name != "" {
		what += " " + n.name
	}
	if n.event != nil {
		what += " of event " + n.event.ID()
	}
	return what
}

// isWhole reports whether the node is the document or <EventStream>.
func (n Node) isWhole() bool { return n.stream != nil && n.event == nil }

// unlimited is the document for what comes after an evaluation.
func unlimited(s *eventstream.Stream) *document {
	return newDocument(context.Background(), s, math.MaxInt)
}

func newNode(c cursor) Node {
	n := Node{name: c.fullName(), event: c.around()}
	switch {
	case c.asEvent() != nil:
		n.kind, n.stream = EventNode, c.d.stream
	case c.attr >= 0:
		n.kind, n.value = AttributeNode, c.Value()
	case c.node >= 0:
		n.kind, n.value, n.xml = pieceKinds[c.piece().Kind], c.Value(), c.piece().XML
	case c.region == streamElement:
		n.kind, n.stream = ElementNode, c.d.stream
	default:
		n.kind, n.stream = DocumentNode, c.d.stream
	}
	return n
}

var pieceKinds = [...]NodeKind{
	eventstream.ElementNode:     ElementNode,
	eventstream.TextNode:        TextNode,
	eventstream.CommentNode:     CommentNode,
	eventstream.InstructionNode: InstructionNode,
}
