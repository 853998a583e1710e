package xpath

import (
	engine "github.com/antchfx/xpath"

	"github.com/leasestream/leasestream/eventstream"
)

// Copy returns a cursor that moves by itself.
func (c *cursor) Copy() engine.NodeNavigator {
	c.d.spend(1)
	other := *c
	other.going = false
	return &other
}

// MoveTo moves to where another cursor is.
func (c *cursor) MoveTo(other engine.NodeNavigator) bool {
	o, ok := other.(*cursor)
	if ok {
		*c = *o
		c.going = false
	}
	return ok
}

// MoveToRoot moves to the document.
func (c *cursor) MoveToRoot() { *c = c.d.root() }

// MoveToParent moves to the node around this one.
func (c *cursor) MoveToParent() bool {
	c.d.spend(1)
	switch {
	case c.attr >= 0:
		c.attr, c.going = -1, false
	case c.region == wholeDocument:
		return false
	case c.node >= 0 && c.piece().Parent >= 0:
		c.node = int32(c.piece().Parent)
	case c.node >= 0 && c.around() != nil:
		c.node, c.fragment = -1, nil
	case c.region == streamContent:
		*c = c.d.element()
	default:
		c.MoveToRoot()
	}
	return true
}

// MoveToNextAttribute moves from an element to its first attribute and from an
// attribute to the next.
func (c *cursor) MoveToNextAttribute() bool {
	c.d.spend(1)
	if c.attr >= 0 && !c.going || int(c.attr)+1 >= len(c.d.attributes(c)) {
		return false
	}
	c.attr, c.going = c.attr+1, true
	return true
}

// MoveToChild moves to the first child.
func (c *cursor) MoveToChild() bool {
	c.d.spend(1)
	switch {
	case c.attr >= 0:
		return false
	case c.node >= 0:
		if c.piece().End == int(c.node)+1 {
			return false
		}
		c.node++
		return true
	case c.region == wholeDocument:
		c.d.readOutside()
		return c.enter(prolog, c.d.prolog, 0) || c.enterElement()
	case c.region == streamElement:
		return c.enterSlot(0)
	}
	return c.enter(streamContent, c.d.content(c.slot/2), 0)
}

// enter moves to a node at the top of a fragment, if it has any.
func (c *cursor) enter(to region, f eventstream.Fragment, node int) bool {
	if len(f) == 0 {
		return false
	}
	c.region, c.fragment, c.node = to, f, int32(node)
	return true
}

func (c *cursor) enterElement() bool {
	*c = c.d.element()
	return c.region == streamElement
}

// enterSlot moves to the first node in a slot or behind it.
func (c *cursor) enterSlot(slot int32) bool {
	for last := int32(2 * c.d.stream.Len()); slot <= last; slot++ {
		if slot%2 == 1 {
			*c = c.d.event(c.d.stream.At(int(slot / 2)))
			return true
		}
		if c.enter(streamContent, c.d.gapBefore(int(slot/2)), 0) {
			c.slot = slot
			return true
		}
	}
	return false
}

// MoveToNext moves to the next sibling.
func (c *cursor) MoveToNext() bool {
	c.d.spend(1)
	switch {
	case c.attr >= 0 || c.region == wholeDocument:
		return false
	case c.node >= 0:
		return c.nextPiece()
	case c.region == streamElement:
		c.d.readOutside()
		return c.enter(epilog, c.d.epilog, 0)
	}
	return c.enterSlot(c.slot + 1)
}

func (c *cursor) nextPiece() bool {
	next, parent := c.piece().End, c.piece().Parent
	switch {
	case parent >= 0 && next >= c.fragment[parent].End:
		return false
	case next < len(c.fragment):
		c.node = int32(next)
		return true
	case c.region == prolog:
		return c.enterElement()
	case c.region == streamContent && c.around() == nil:
		return c.enterSlot(c.slot + 1)
	}
	return false
}

// MoveToPrevious moves to the sibling before.
func (c *cursor) MoveToPrevious() bool {
	c.d.spend(1)
	switch {
	case c.attr >= 0 || c.region == wholeDocument:
		return false
	case c.node >= 0:
		return c.previousPiece()
	case c.region == streamElement:
		c.d.readOutside()
		return c.enterLast(prolog, c.d.prolog)
	}
	return c.leaveSlot()
}

func (c *cursor) previousPiece() bool {
	prev, parent := c.piece().Prev, c.piece().Parent
	switch {
	case prev >= 0:
		c.node = int32(prev)
		return true
	case parent >= 0:
		return false
	case c.region == epilog:
		return c.enterElement()
	case c.region == streamContent && c.around() == nil:
		return c.leaveSlot()
	}
	return false
}

// leaveSlot moves to the last node before the slot.
func (c *cursor) leaveSlot() bool {
	slot := c.slot - 1
	if slot >= 0 && slot%2 == 0 {
		if c.enterLast(streamContent, c.d.gapBefore(int(slot/2))) {
			c.slot = slot
			return true
		}
		slot--
	}
	if slot < 0 {
		return false
	}
	*c = c.d.event(c.d.stream.At(int(slot / 2)))
	return true
}

// enterLast moves to the last node at the top of a fragment, if it has any.
func (c *cursor) enterLast(to region, f eventstream.Fragment) bool {
	last := len(f) - 1
	for last >= 0 && f[last].Parent >= 0 {
		last = f[last].Parent
	}
	return c.enter(to, f, last)
}

// MoveToFirst moves to the first sibling.
func (c *cursor) MoveToFirst() bool {
	if c.attr >= 0 {
		return false
	}
	return c.MoveToParent() && c.MoveToChild()
}
