package xpath

import "math"

// checkPosition refuses a test of positions with anything in it but numbers.
func (l *lowerer) checkPosition(e expression) {
	anywhere(e, func(e expression) bool {
		kind := kindOf(e, l.vars)
		if kind == nodesKind || kind == textKind || !countable(e) {
			fail(ErrUnsupported, e.column(), "a position can be compared with numbers, position() and last() alone; "+
				"put other tests in a predicate of their own")
		}
		return false
	})
}

func countable(e expression) bool {
	c, ok := e.(*call)
	if !ok {
		return true
	}
	switch c.name {
	case "position", "last", "floor", "ceiling", "round", "not", "true", "false", "boolean", "number":
		return true
	}
	return false
}

// usesLast reports whether the number of nodes must be known.
func usesLast(e expression) bool {
	return anywhere(e, func(e expression) bool {
		c, ok := e.(*call)
		return ok && c.name == "last"
	})
}

// place is where a node stands among those that a predicate is asked about.
type place struct {
	vars           values
	position, last int
}

// holds evaluates a predicate: a number is the position that is meant.
func (p place) holds(e expression) bool {
	v := p.eval(e)
	if n, ok := v.(float64); ok {
		return n == float64(p.position)
	}
	return v.(bool)
}

// eval gives a float64 or a bool.
func (p place) eval(e expression) any {
	switch e := e.(type) {
	case *literal:
		return e.value
	case *variable:
		return p.vars[e.name]
	case *negation:
		return -p.number(e.operand)
	case *binary:
		return p.binary(e)
	}
	return p.call(e.(*call))
}

func (p place) number(e expression) float64 {
	switch v := p.eval(e).(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

func (p place) bool(e expression) bool {
	n := p.number(e)
	return n < 0 || n > 0 // NaN is false
}

func (p place) binary(e *binary) any {
	switch e.op {
	case "and":
		return p.bool(e.left) && p.bool(e.right)
	case "or":
		return p.bool(e.left) || p.bool(e.right)
	case "=", "!=":
		if kindOf(e.left, p.vars) == booleanKind || kindOf(e.right, p.vars) == booleanKind {
			return (p.bool(e.left) == p.bool(e.right)) == (e.op == "=")
		}
	}
	return operate(e.op, p.number(e.left), p.number(e.right))
}

func operate(op string, a, b float64) any {
	switch op {
	case "=":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "div":
		return a / b
	}
	return math.Mod(a, b)
}

func (p place) call(c *call) any {
	switch c.name {
	case "position":
		return float64(p.position)
	case "last":
		return float64(p.last)
	case "floor":
		return math.Floor(p.number(c.args[0]))
	case "ceiling":
		return math.Ceil(p.number(c.args[0]))
	case "round":
		return math.Floor(p.number(c.args[0]) + 0.5)
	case "not":
		return !p.bool(c.args[0])
	case "boolean":
		return p.bool(c.args[0])
	case "number":
		return p.number(c.args[0])
	}
	return c.name == "true"
}
