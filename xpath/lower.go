package xpath

import (
	"math"
	"strconv"
	"strings"
)

// lowerer writes expressions in the part of XPath that the engine evaluates
// correctly. Every conversion is written out, since the engine's own are wrong or
// panic: it compares 'init'=@status as numbers, and contains() with a number as
// its second argument ends in a panic. What cannot be written so that the engine
// is right is refused.
//
// Text goes to the engine only from here. Literals and variables are written by
// quote and quoteNumber, so that no value can be anything but a value.
type lowerer struct {
	vars values
	// nodes evaluates a path outside of all predicates, where the context is known;
	// inside predicates it is nil.
	nodes func(expression) []cursor
	// positions allows position() and last().
	positions bool
}

// maxText is how long an expression for the engine may be, in bytes.
const maxText = 16 * maxLength

// term is an expression for the engine.
type term struct {
	text string
	kind kind
	op   string // the outermost operator; "" for what needs no parentheses
	set  set    // of nodes
	// value is that of a constant; nil where the engine is needed.
	value any

	// The engine evaluates relative to one current node, which predicates and some
	// axes move and do not put back. What is evaluated after a term that moves must
	// not be relative.
	moves, relative bool
}

// operand is the term as part of another one.
func (t term) operand() string {
	if t.op == "" {
		return t.text
	}
	return "(" + t.text + ")"
}

func (l *lowerer) lower(e expression) term {
	t := l.term(e)
	if len(t.text) > maxText {
		fail(ErrUnsupported, e.column(), "too long when written out for the engine")
	}
	return t
}

func (l *lowerer) term(e expression) term {
	switch e := e.(type) {
	case *literal:
		return constant(e.value)
	case *variable:
		return constant(l.vars[e.name])
	case *call:
		return l.call(e)
	case *negation:
		t := l.number(e.operand)
		return term{text: "-" + t.operand(), kind: numberKind, op: "-", relative: t.relative}
	case *binary:
		return l.binary(e)
	}
	return l.path(e.(*path))
}

func constant(value any) term {
	t := term{kind: kindOfValue(value), value: value}
	switch value := value.(type) {
	case float64:
		t.text = quoteNumber(value)
	case bool:
		t.text = strconv.FormatBool(value) + "()"
	case string:
		t.text = quote(value)
	}
	return t
}

// quote writes a string as a literal. XPath has no escapes, so that one with both
// kinds of quotes takes several.
func quote(s string) string {
	switch {
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	case !strings.Contains(s, `"`):
		return `"` + s + `"`
	}
	return "concat('" + strings.ReplaceAll(s, "'", `',"'",'`) + "')"
}

// quoteNumber writes a number as an expression; XPath has no exponents.
func quoteNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "(0 div 0)"
	case math.IsInf(f, 0):
		return "(" + strconv.FormatFloat(math.Copysign(1, f), 'f', -1, 64) + " div 0)"
	case f < 0:
		return "(" + strconv.FormatFloat(f, 'f', -1, 64) + ")"
	}
	return strconv.FormatFloat(math.Abs(f), 'f', -1, 64) // not -0
}

func (l *lowerer) binary(e *binary) term {
	switch operatorKind(e.op) {
	case numberKind:
		// Arithmetic puts the current node back, after each operand.
		return joined(e.op, l.number(e.left), l.number(e.right), numberKind)
	case nodesKind:
		fail(ErrUnsupported, e.column(), "a union inside a predicate or a comparison: write the test once for each side, joined by or")
	}
	if e.op == "and" || e.op == "or" {
		return joined(e.op, l.boolean(e.left), l.boolean(e.right), booleanKind)
	}
	return l.compare(e)
}

func joined(op string, left, right term, kind kind) term {
	text := left.operand()
	if left.op == op {
		text = left.text // a or b or c, lest the engine finds it nested too deep
	}
	return term{
		text: text + " " + op + " " + right.operand(), op: op, kind: kind,
		moves: kind == booleanKind && (left.moves || right.moves), relative: left.relative || right.relative,
	}
}

// still makes a number leave the current node alone.
func still(t term) term {
	if !t.moves || t.kind != numberKind {
		return t
	}
	return term{text: t.operand() + " + 0", op: "+", kind: numberKind, relative: t.relative}
}

func apply(name string, t term, kind kind) term {
	return term{text: name + "(" + t.text + ")", kind: kind, moves: t.moves, relative: t.relative}
}

// text, number and boolean lower e and convert the value.

func (l *lowerer) text(e expression) term {
	if kindOf(e, l.vars) == nodesKind {
		return l.first(e, "string", textKind)
	}
	t := l.lower(e)
	if t.kind == textKind {
		return t
	}
	return apply("string", t, textKind)
}

func (l *lowerer) number(e expression) term {
	if kindOf(e, l.vars) == nodesKind {
		return l.first(e, "number", numberKind)
	}
	t := l.lower(e)
	if t.kind == numberKind {
		return t
	}
	return apply("number", t, numberKind)
}

func (l *lowerer) boolean(e expression) term {
	if kindOf(e, l.vars) == nodesKind && l.nodes != nil {
		return constant(len(l.nodes(e)) > 0)
	}
	if b, ok := e.(*binary); ok && b.op == "|" {
		checkNodes(b, l.vars)
		return joined("or", l.boolean(b.left), l.boolean(b.right), booleanKind)
	}
	t := l.lower(e)
	switch t.kind {
	case booleanKind:
		return t
	case numberKind:
		// Not boolean(), for which NaN is true.
		digits := apply("translate", term{text: "string(" + t.text + "),'Na0',''", moves: t.moves, relative: t.relative}, textKind)
		return apply("boolean", digits, booleanKind)
	}
	return apply("boolean", t, booleanKind)
}

// first applies a function that is about the first node of a set.
func (l *lowerer) first(e expression, function string, result kind) term {
	if l.nodes != nil {
		value := ""
		if nodes := l.nodes(e); len(nodes) > 0 {
			value = nodes[0].property(function)
		}
		if result == numberKind {
			return constant(toNumber(value))
		}
		return constant(value)
	}
	t := l.lower(e)
	if !t.set.ordered {
		fail(ErrUnsupported, e.column(), "%s() of nodes that the engine does not find in document order; "+
			"add [1] where one of them is meant", function)
	}
	return apply(function, t, result)
}
