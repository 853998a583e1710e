package xpath

// expression is a node of the parsed expression.
type expression interface{ column() int }

// at is where an expression stands, in characters from 1.
type at int

func (a at) column() int { return int(a) }

type (
	// literal has a string or a float64.
	literal struct {
		at
		value any
	}
	variable struct {
		at
		name string
	}
	call struct {
		at
		name string
		args []expression
	}
	negation struct {
		at
		operand expression
	}
	binary struct {
		at
		op          string
		left, right expression
	}
	// path is a location path: from the document, from base, or from the context
	// node. A base in parentheses may have predicates of its own.
	path struct {
		at
		absolute bool
		base     expression
		preds    []expression // of base
		steps    []*step
	}
)

type step struct {
	at
	axis  string
	test  string // a name, *, node(), text() or comment()
	preds []expression
}

// anyNode is the step that // stands for, followed by another one.
func anyNode(at at) *step { return &step{at: at, axis: "descendant-or-self", test: "node()"} }

// self is the path of the context node alone.
func self(at at) *path { return &path{at: at, steps: []*step{{at: at, axis: "self", test: "node()"}}} }

// kind is the type of an expression's value. XPath 1.0 is statically typed once
// the variables are known.
type kind uint8

const (
	nodesKind kind = iota
	textKind
	numberKind
	booleanKind
)

var kindNames = [...]string{"nodes", "a string", "a number", "true or false"}

func (k kind) String() string { return kindNames[k] }

// operators has the precedence of the binary operators.
var operators = map[string]int{
	"or": 1, "and": 2, "=": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4,
	"+": 5, "-": 5, "*": 6, "div": 6, "mod": 6,
}

func operatorKind(op string) kind {
	switch operators[op] {
	case 5, 6:
		return numberKind
	case 0: // |
		return nodesKind
	}
	return booleanKind
}

// kindOf is the type of e with the given variables. An unknown one counts as a
// string.
func kindOf(e expression, vars values) kind {
	switch e := e.(type) {
	case *literal:
		return kindOfValue(e.value)
	case *variable:
		return kindOfValue(vars[e.name])
	case *call:
		return functions[e.name].result
	case *negation:
		return numberKind
	case *binary:
		return operatorKind(e.op)
	}
	return nodesKind
}

func kindOfValue(v any) kind {
	switch v.(type) {
	case float64:
		return numberKind
	case bool:
		return booleanKind
	}
	return textKind
}

// anywhere reports whether yes holds for e or an operand of it. It does not look
// into paths: what stands in their predicates has another context.
func anywhere(e expression, yes func(expression) bool) bool {
	if yes(e) {
		return true
	}
	switch e := e.(type) {
	case *call:
		for _, arg := range e.args {
			if anywhere(arg, yes) {
				return true
			}
		}
	case *negation:
		return anywhere(e.operand, yes)
	case *binary:
		return anywhere(e.left, yes) || anywhere(e.right, yes)
	}
	return false
}

func isPath(e expression) bool {
	_, ok := e.(*path)
	return ok
}

func isPositionCall(e expression) bool {
	c, ok := e.(*call)
	return ok && (c.name == "position" || c.name == "last")
}

// conjuncts cuts predicates at their outermost and: [a and b] is [a][b] as long
// as neither counts positions.
func conjuncts(preds ...expression) []expression {
	var out []expression
	for _, e := range preds {
		if b, ok := e.(*binary); ok && b.op == "and" {
			out = append(out, conjuncts(b.left, b.right)...)
		} else {
			out = append(out, e)
		}
	}
	return out
}
