package xpath

import (
	"iter"
	"slices"

	"github.com/leasestream/leasestream/eventstream"
)

// lookup finds events by their attributes: by id, else by status from the index
// of the stream; what remains is compared on each of those.
type lookup struct {
	id, status *string
	equals     []attribute
}

// useIndex plans as much of a path as the index answers, and returns the steps
// that are left.
func (p *planner) useIndex(absolute bool, steps []*step) []*step {
	rest, ok := toEvents(absolute, steps)
	if !ok {
		return steps
	}
	s := rest[0]
	first := slices.IndexFunc(s.preds, p.l.isPosition)
	if first < 0 {
		first = len(s.preds)
	}
	found, others := p.l.lookup(conjuncts(s.preds[:first]...))
	if found.id == nil && found.status == nil {
		return steps
	}
	filters := append(p.l.wheres(others), p.l.filters(s.preds[first:])...)
	p.add(stage{index: found, filters: filters},
		set{single: found.id != nil, flat: true, ordered: true, distinct: true})
	return rest[1:]
}

// toEvents cuts the steps that lead to <EventStream> from ./Event or
// /EventStream/Event.
func toEvents(absolute bool, steps []*step) ([]*step, bool) {
	if absolute {
		if len(steps) == 0 || !steps[0].isPlain("child", "EventStream") {
			return nil, false
		}
		steps = steps[1:]
	}
	for len(steps) > 0 && steps[0].isPlain("self", "node()") {
		steps = steps[1:]
	}
	return steps, len(steps) > 0 && steps[0].axis == "child" && steps[0].test == "Event"
}

func (s *step) isPlain(axis, test string) bool {
	return s.axis == axis && s.test == test && s.preds == nil
}

// lookup takes the tests of the form @name = string out of conditions that must
// all hold.
func (l *lowerer) lookup(conditions []expression) (found *lookup, others []expression) {
	found = &lookup{}
	for _, e := range conditions {
		a, ok := l.attributeTest(e)
		switch {
		case !ok:
			others = append(others, e)
		case a.name == "id" && found.id == nil:
			found.id = &a.value
		case a.name == "status" && found.status == nil:
			found.status = &a.value
		default:
			found.equals = append(found.equals, a)
		}
	}
	return found, others
}

// attributeTest reads @name = 'value', either way round.
func (l *lowerer) attributeTest(e expression) (attribute, bool) {
	b, ok := e.(*binary)
	if !ok || b.op != "=" {
		return attribute{}, false
	}
	left, right := b.left, b.right
	if isPath(right) {
		left, right = right, left
	}
	value, isText := l.constantValue(right).(string)
	p, ok := left.(*path)
	if !ok || !isText || p.absolute || p.base != nil || len(p.steps) != 1 {
		return attribute{}, false
	}
	s := p.steps[0]
	if !s.isPlain("attribute", s.test) || nameLen(s.test) != len(s.test) || s.test == "xmlns" {
		return attribute{}, false
	}
	return attribute{s.test, value}, true
}

// find yields what the lookup finds, in the order of the document.
func (f *lookup) find(s *eventstream.Stream, yield func(*eventstream.Event) bool) {
	if f.id == nil {
		f.ofStatus(s, yield)
		return
	}
	e := s.Event(*f.id)
	if e != nil && (f.status == nil || e.Status().String() == *f.status) && f.matches(e) {
		yield(e)
	}
}

func (f *lookup) ofStatus(s *eventstream.Stream, yield func(*eventstream.Event) bool) {
	status, err := eventstream.ParseStatus(*f.status)
	if err != nil {
		return // no event has a status that does not exist
	}
	var replaced []*eventstream.Event
	for e := range s.Replaced() {
		if e.Status() == status {
			replaced = append(replaced, e)
		}
	}
	inOrder(s.ByStatus(status), replaced, func(e *eventstream.Event) bool {
		return !f.matches(e) || yield(e)
	})
}

// matches reports whether the attributes have the values that remain to be
// compared.
func (f *lookup) matches(e *eventstream.Event) bool {
	for _, a := range f.equals {
		if value, ok := e.LookupAttr(a.name); !ok || value != a.value {
			return false
		}
	}
	return true
}

// inOrder yields the events of two sequences in the order of the document.
func inOrder(live iter.Seq[*eventstream.Event], others []*eventstream.Event, yield func(*eventstream.Event) bool) {
	for e := range live {
		for len(others) > 0 && others[0].Pos() < e.Pos() {
			if !yield(others[0]) {
				return
			}
			others = others[1:]
		}
		if !yield(e) {
			return
		}
	}
	for _, e := range others {
		if !yield(e) {
			return
		}
	}
}
