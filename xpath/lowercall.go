package xpath

// call lowers a function call.
func (l *lowerer) call(c *call) term {
	f := functions[c.name]
	args := c.args
	if f.context && len(args) == 0 {
		args = []expression{self(c.at)}
	}
	switch c.name {
	case "string":
		return l.text(args[0])
	case "number":
		return l.number(args[0])
	case "boolean":
		return l.boolean(args[0])
	case "name", "local-name":
		checkNodes(args[0], l.vars)
		return l.first(args[0], c.name, textKind)
	case "count", "sum":
		return l.total(c)
	case "position", "last":
		if !l.positions {
			fail(ErrUnsupported, c.column(), "%s() has a meaning only at the beginning of a predicate; "+
				"count(preceding-sibling::*) + 1 is the place of a node among its siblings", c.name)
		}
		return term{text: c.name + "()", kind: numberKind, relative: true}
	case "substring":
		if len(args) == 2 {
			// With two arguments the engine panics where the second is no number.
			args = append(args[:2:2], &binary{c.at, "div", &literal{c.at, 1.0}, &literal{c.at, 0.0}})
		}
	case "substring-before", "substring-after":
		l.checkSeparator(c)
	}
	return l.apply(c.name, f, args)
}

// apply lowers a function all whose arguments are converted.
func (l *lowerer) apply(name string, f function, args []expression) term {
	out := term{text: name + "(", kind: f.result}
	for i, arg := range args {
		t := l.argument(arg, f.args[min(i, len(f.args)-1)])
		if out.moves && t.relative {
			failMoved(arg)
		}
		if i > 0 {
			out.text += ","
		}
		out.text += t.text
		out.moves = out.moves || t.moves
		out.relative = out.relative || t.relative
	}
	out.text += ")"
	return out
}

func (l *lowerer) argument(arg expression, want kind) term {
	switch want {
	case numberKind:
		return still(l.number(arg))
	case booleanKind:
		return l.boolean(arg)
	}
	return l.text(arg)
}

func failMoved(e expression) {
	fail(ErrUnsupported, e.column(), "the engine reads this relative to the wrong node, since a predicate stands before it; "+
		"put what has the predicate last, or in a predicate of its own")
}

// total lowers count() and sum().
func (l *lowerer) total(c *call) term {
	checkNodes(c.args[0], l.vars)
	if l.nodes != nil {
		nodes := l.nodes(c.args[0])
		if c.name == "count" {
			return constant(float64(len(nodes)))
		}
		return constant(sum(nodes))
	}
	if c.name == "sum" {
		fail(ErrUnsupported, c.column(), "sum() inside a predicate: the engine passes over what is not a number")
	}
	t := l.lower(c.args[0])
	if !t.set.distinct {
		fail(ErrUnsupported, c.column(), "count() of nodes that the engine finds several times; "+
			"count from the other side, as in count(Event[Input]) for count(Event/Input/..)")
	}
	return apply("count", t, numberKind)
}

func sum(nodes []cursor) float64 {
	total := 0.0
	for _, n := range nodes {
		total += toNumber(n.Value())
	}
	return total
}

// checkSeparator refuses a second argument that may be empty, for which the
// engine's answer is always the empty string.
func (l *lowerer) checkSeparator(c *call) {
	s, _ := l.constantValue(c.args[1]).(string)
	if s == "" {
		fail(ErrUnsupported, c.args[1].column(), "the second argument of %s() must be a text that is not empty, "+
			"given as a literal or a variable", c.name)
	}
}

func checkNodes(e expression, vars values) {
	if k := kindOf(e, vars); k != nodesKind {
		fail(ErrSyntax, e.column(), "%s where nodes are wanted", k)
	}
	if b, ok := e.(*binary); ok {
		checkNodes(b.left, vars)
		checkNodes(b.right, vars)
	}
}
