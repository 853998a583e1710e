package xpath

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// set is what is known about the nodes that a path gives, as the engine finds
// them.
type set struct {
	single   bool // at most one
	flat     bool // none is inside another
	ordered  bool // in document order
	distinct bool // each once
}

var singleNode = set{single: true, flat: true, ordered: true, distinct: true}

// after is what is known after one more step.
func (in set) after(s *step) set {
	switch s.axis {
	case "self":
		return in
	case "attribute":
		return set{in.single && s.test != "*", true, in.ordered, in.distinct}
	case "child":
		return set{false, in.flat, in.flat && in.ordered, in.distinct}
	case "descendant", "descendant-or-self":
		return set{false, false, in.flat && in.ordered, in.flat && in.distinct}
	case "parent":
		if in.single {
			return singleNode
		}
	case "following-sibling":
		return set{false, in.single, in.single, in.single}
	case "following":
		return set{false, false, in.single, in.single}
	case "preceding-sibling":
		return set{false, in.single, false, in.single}
	case "preceding", "ancestor", "ancestor-or-self":
		return set{false, false, false, in.single}
	}
	return set{}
}

// path lowers a path inside a predicate or a comparison.
func (l *lowerer) path(p *path) term {
	if p.base != nil {
		fail(ErrUnsupported, p.column(), "what follows a parenthesis inside a predicate or a comparison; "+
			"select these nodes by a query of their own, or write string((…)[1])")
	}
	t := l.steps(p.steps, singleNode)
	t.relative = !p.absolute
	switch {
	case p.absolute && len(p.steps) == 0:
		t.text = "/self::node()" // a bare / would take the next word for a step
	case p.absolute:
		t.text = "/" + t.text
	}
	return t
}

// steps lowers a relative path from nodes of which in is known.
func (l *lowerer) steps(steps []*step, in set) term {
	t := term{kind: nodesKind, set: in}
	for i, s := range l.fuse(steps) {
		if i > 0 {
			t.text += "/"
		}
		l.step(&t, s, i == 0)
	}
	return t
}

func (l *lowerer) step(t *term, s *step, first bool) {
	in := t.set
	t.set = in.after(s)
	descends := strings.HasPrefix(s.axis, "descendant")
	if descends && !first {
		// The engine passes over nodes inside other ones where one descendant step
		// follows another directly, and over the name test of the first.
		t.text += "self::node()/"
	}
	t.text += s.axis + "::" + s.test
	if s.axis == "following" || s.axis == "preceding" {
		t.moves = true
	}
	for i, pred := range s.preds {
		t.moves = true
		if l.isPosition(pred) {
			t.text += "[" + l.position(s, pred, i == 0) + "]"
			if _, constant := l.constantNumber(pred); constant && in.single {
				t.set = singleNode
			}
		} else {
			t.text += "[" + l.predicate(pred) + "]"
		}
	}
	if descends {
		t.text += "/self::node()"
	}
}

// predicate lowers a predicate that is true or false.
func (l *lowerer) predicate(e expression) string {
	inside := lowerer{vars: l.vars}
	if isPath(e) {
		return inside.lower(e).text
	}
	t := inside.boolean(e)
	if t.op == "" {
		// The engine takes a lone function for a possible position.
		return t.text + " or false()"
	}
	return t.text
}

// fuse makes //Event one step, which the engine walks in document order, unless
// the place among siblings is asked for.
func (l *lowerer) fuse(steps []*step) []*step {
	out := make([]*step, 0, len(steps))
	for _, s := range steps {
		last := len(out) - 1
		if last >= 0 && out[last].isAnyNode() && s.axis == "child" && !slices.ContainsFunc(s.preds, l.isPosition) {
			fused := *s
			fused.axis = "descendant"
			out[last] = &fused
			continue
		}
		out = append(out, s)
	}
	return out
}

func (s *step) isAnyNode() bool {
	return s.axis == "descendant-or-self" && s.test == "node()" && s.preds == nil
}

// isPosition reports whether a predicate is about positions: a number, or a test
// with position() or last().
func (l *lowerer) isPosition(pred expression) bool {
	return kindOf(pred, l.vars) == numberKind || anywhere(pred, isPositionCall)
}

// constantNumber is the value of a number that needs no evaluation.
func (l *lowerer) constantNumber(e expression) (float64, bool) {
	if n, ok := e.(*negation); ok {
		f, ok := l.constantNumber(n.operand)
		return -f, ok
	}
	if kindOf(e, l.vars) != numberKind {
		return 0, false
	}
	f, ok := l.constantValue(e).(float64)
	return f, ok
}

// constantValue is the value of a literal or a variable, else nil.
func (l *lowerer) constantValue(e expression) any {
	switch e := e.(type) {
	case *literal:
		return e.value
	case *variable:
		return l.vars[e.name]
	}
	return nil
}

// position lowers a predicate about positions. The engine counts right only
// among all children, or siblings on one side, that pass the node test.
func (l *lowerer) position(s *step, pred expression, first bool) string {
	if !first {
		fail(ErrUnsupported, pred.column(), "a position after another predicate, inside a predicate or a comparison; "+
			"put the position first, or select these nodes by a query of their own")
	}
	sibling := s.axis == "following-sibling" || s.axis == "preceding-sibling"
	if n, ok := l.constantNumber(pred); ok && (sibling || s.axis == "child") {
		if n < 1 || n != math.Trunc(n) {
			return "false()"
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	if s.axis != "child" {
		fail(ErrUnsupported, pred.column(), "a position on the axis %s:: inside a predicate or a comparison; "+
			"the engine counts only children, and siblings by a number", s.axis)
	}
	l.checkPosition(pred)
	inside := lowerer{vars: l.vars, positions: true}
	t := inside.lower(pred)
	if t.kind == numberKind {
		t.text = "position() = " + t.operand()
	}
	return t.text
}
