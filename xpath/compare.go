package xpath

// mirrored has the operator for swapped operands.
var mirrored = map[string]string{"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func isEquality(op string) bool { return op == "=" || op == "!=" }

// compare lowers a comparison to one of the four that the engine gets right: two
// numbers, two strings, nodes with a number or a string on the right, two sets of
// nodes.
func (l *lowerer) compare(e *binary) term {
	left, right := kindOf(e.left, l.vars), kindOf(e.right, l.vars)
	switch {
	case left == booleanKind || right == booleanKind:
		return l.compareBooleans(e)
	case left == nodesKind && right == nodesKind:
		return l.compareSets(e)
	case left == nodesKind:
		return l.compareSet(e.op, e.left, e.right)
	case right == nodesKind:
		return l.compareSet(mirrored[e.op], e.right, e.left)
	case left == textKind && right == textKind && isEquality(e.op):
		return l.compareTexts(e)
	}
	return compared(e.op, still(l.number(e.left)), l.number(e.right))
}

func compared(op string, left, right term) term {
	return term{
		text: left.operand() + " " + op + " " + right.operand(), op: op, kind: booleanKind,
		moves: left.moves || right.moves, relative: left.relative || right.relative,
	}
}

// compareBooleans compares as numbers, 0 and 1, which can be made to keep the
// current node.
func (l *lowerer) compareBooleans(e *binary) term {
	truth := func(operand expression) term {
		if isEquality(e.op) || kindOf(operand, l.vars) == nodesKind {
			operand = &call{at(operand.column()), "boolean", []expression{operand}}
		}
		return l.number(operand)
	}
	return compared(e.op, still(truth(e.left)), truth(e.right))
}

func (l *lowerer) compareTexts(e *binary) term {
	left, right := l.text(e.left), l.text(e.right)
	if left.moves {
		left, right = right, left
	}
	if left.moves && right.relative {
		failMoved(e)
	}
	return compared(e.op, left, right)
}

// compareSet compares nodes with a number or a string. The engine reads the
// nodes last.
func (l *lowerer) compareSet(op string, nodes, scalar expression) term {
	set, value := l.lower(nodes), still(l.lower(scalar))
	if value.moves && set.relative {
		failMoved(nodes)
	}
	return compared(op, set, value)
}

// compareSets compares each node of one set with each of the other.
func (l *lowerer) compareSets(e *binary) term {
	left, right := l.lower(e.left), l.lower(e.right)
	switch {
	case readsRight(left, right):
		return compared(e.op, left, right)
	case readsRight(right, left):
		return compared(mirrored[e.op], right, left)
	}
	failMoved(e)
	return term{}
}

// readsRight reports whether the engine reads two sets relative to the right
// node: it reads the right one after the first node of the left one, and again
// after each further one.
func readsRight(left, right term) bool {
	return !right.relative || !left.moves && (!right.moves || left.set.single)
}
