package xpath

import (
	"cmp"
	"iter"
	"strings"

	engine "github.com/antchfx/xpath"

	"github.com/leasestream/leasestream/eventstream"
)

// region is a part of the document; the regions are in document order.
type region int8

const (
	wholeDocument region = iota // the document node itself
	prolog
	streamElement // <EventStream> itself
	streamContent
	epilog
)

// nodeID tells where a node is. The fields, taken one after the other, order
// nodes as the document does.
type nodeID struct {
	region region
	// slot counts what <EventStream> holds: 2*i is what stands before event i,
	// 2*i+1 is event i.
	slot int32
	// node is the place in the fragment of the slot, -1 for an event itself and
	// outside of fragments.
	node int32
}

// cursor is a node of the document, and the engine's way to walk it: the
// document is read where it stands, and no tree of it is built. Each move is a
// step of the budget.
type cursor struct {
	nodeID
	attr int32 // place among the attributes; -1 for the node itself
	// going is set while the engine goes from one attribute of an element to the
	// next. A copy does not have it: from an attribute that was found, there are no
	// attributes to go to.
	going    bool
	fragment eventstream.Fragment
	d        *document
}

// instruction is the type of processing instructions, for which the engine has
// none: node() finds them and no other test does.
const instruction engine.NodeType = 100

func (d *document) root() cursor {
	return cursor{nodeID: nodeID{region: wholeDocument, node: -1}, attr: -1, d: d}
}

// element is the cursor of <EventStream>; in a stream of 0 bytes, which has none,
// that of the document.
func (d *document) element() cursor {
	c := d.root()
	if d.stream.Size() > 0 {
		c.region = streamElement
	}
	return c
}

func (d *document) event(e *eventstream.Event) cursor {
	return cursor{nodeID: nodeID{streamContent, int32(2*e.Pos() + 1), -1}, attr: -1, d: d}
}

// compare orders cursors as the document does.
func compare(a, b cursor) int {
	return cmp.Or(
		cmp.Compare(a.region, b.region), cmp.Compare(a.slot, b.slot),
		cmp.Compare(a.node, b.node), cmp.Compare(a.attr, b.attr),
	)
}

func same(a, b cursor) bool { return a.nodeID == b.nodeID && a.attr == b.attr }

// asEvent returns the event that the cursor stands on, or nil.
func (c *cursor) asEvent() *eventstream.Event {
	if c.region != streamContent || c.node >= 0 || c.attr >= 0 {
		return nil
	}
	return c.around()
}

// around returns the event that the cursor stands on or in, or nil.
func (c *cursor) around() *eventstream.Event {
	if c.region != streamContent || c.slot%2 == 0 {
		return nil
	}
	return c.d.stream.At(int(c.slot / 2))
}

func (c *cursor) piece() *eventstream.Node { return &c.fragment[c.node] }

func (c *cursor) allAttributes() iter.Seq2[string, string] {
	switch {
	case c.node >= 0:
		return c.piece().Attrs()
	case c.region == streamElement:
		return c.d.stream.Attrs()
	case c.region == streamContent:
		return c.around().Attrs()
	}
	return func(func(string, string) bool) {}
}

// NodeType is part of [engine.NodeNavigator], as are the methods that follow.
func (c *cursor) NodeType() engine.NodeType {
	switch {
	case c.attr >= 0:
		return engine.AttributeNode
	case c.region == wholeDocument:
		return engine.RootNode
	case c.node < 0:
		return engine.ElementNode
	}
	switch c.piece().Kind {
	case eventstream.TextNode:
		return engine.TextNode
	case eventstream.CommentNode:
		return engine.CommentNode
	case eventstream.InstructionNode:
		return instruction
	}
	return engine.ElementNode
}

// fullName is the name as it is written, with its prefix.
func (c *cursor) fullName() string {
	switch {
	case c.attr >= 0:
		return c.d.attributes(c)[c.attr].name
	case c.node >= 0:
		return c.piece().Name
	case c.region == streamElement:
		return "EventStream"
	case c.region == streamContent:
		return "Event"
	}
	return ""
}

// LocalName is the name without its prefix.
func (c *cursor) LocalName() string {
	name := c.fullName()
	return name[strings.IndexByte(name, ':')+1:]
}

// Prefix is what stands before the colon of the name.
func (c *cursor) Prefix() string {
	name := c.fullName()
	return name[:max(0, strings.IndexByte(name, ':'))]
}

// Value is the string-value of the node.
func (c *cursor) Value() string {
	switch {
	case c.attr >= 0:
		value := c.d.attributes(c)[c.attr].value
		c.d.spendText(value)
		return value
	case c.node >= 0:
		return c.d.textOf(c.fragment[c.node:c.piece().End])
	case c.region == streamContent:
		return c.d.textOf(c.d.content(c.slot / 2))
	}
	return c.d.allText()
}

// textOf is the text in a fragment, or in the node that it begins with.
func (d *document) textOf(f eventstream.Fragment) string {
	if len(f) == 1 && f[0].Kind != eventstream.ElementNode {
		d.spendText(f[0].Text)
		return f[0].Text
	}
	var b strings.Builder
	for i := range f {
		if f[i].Kind == eventstream.TextNode {
			d.spendText(f[i].Text)
			b.WriteString(f[i].Text)
		}
	}
	return b.String()
}

// allText is the text of the whole document.
func (d *document) allText() string {
	var b strings.Builder
	for i := range d.stream.Len() {
		b.WriteString(d.textOf(d.gapBefore(i)))
		b.WriteString(d.textOf(d.content(int32(i))))
	}
	b.WriteString(d.textOf(d.gapBefore(d.stream.Len())))
	return b.String()
}

// property is what string(), number(), name() or local-name() is about.
func (c *cursor) property(function string) string {
	switch function {
	case "name":
		return c.fullName()
	case "local-name":
		return c.LocalName()
	}
	return c.Value()
}
