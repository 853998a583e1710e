package xpath

import (
	"slices"
	"strconv"
)

const (
	// maxLength is how long an expression may be, in bytes.
	maxLength = 4096
	// maxDepth is how deep parentheses, predicates and arguments may be nested.
	maxDepth = 40
)

// parser reads the grammar of XPath 1.0 by recursive descent.
type parser struct {
	tokens []token
	pos    int
	depth  int
	vars   []variable // in the order of the expression
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != endToken {
		p.pos++
	}
	return t
}

// accept takes the next token if it is one of the given symbols.
func (p *parser) accept(texts ...string) (token, bool) {
	t := p.peek()
	if !t.is(texts...) {
		return t, false
	}
	return p.next(), true
}

func (p *parser) expect(text string) {
	if t, ok := p.accept(text); !ok {
		fail(ErrSyntax, t.col, "%s where %s is wanted", t, text)
	}
}

// whole reads an expression and nothing after it.
func (p *parser) whole() expression {
	e := p.expr()
	if t := p.peek(); t.kind != endToken {
		fail(ErrSyntax, t.col, "%s where the expression is already complete", t)
	}
	return e
}

func (p *parser) expr() expression {
	if p.depth++; p.depth > maxDepth {
		fail(ErrSyntax, p.peek().col, "nested deeper than %d", maxDepth)
	}
	e := p.binary(1)
	p.depth--
	return e
}

// binary reads operators of at least the given precedence.
func (p *parser) binary(precedence int) expression {
	left := p.unary()
	for {
		t := p.peek()
		level := operators[t.text]
		if t.kind != operatorToken || level < precedence {
			return left
		}
		p.next()
		left = &binary{at(t.col), t.text, left, p.binary(level + 1)}
	}
}

func (p *parser) unary() expression {
	t, minus := p.accept("-")
	if !minus {
		return p.union()
	}
	odd := true
	for {
		if _, minus = p.accept("-"); !minus {
			break
		}
		odd = !odd
	}
	e := expression(&negation{at(t.col), p.union()})
	if !odd {
		e = &negation{at(t.col), e}
	}
	return e
}

func (p *parser) union() expression {
	left := p.path()
	for {
		t, ok := p.accept("|")
		if !ok {
			return left
		}
		right := p.path()
		left = &binary{at(t.col), "|", left, right}
	}
}

func (p *parser) path() expression {
	t := p.peek()
	switch {
	case p.startsPrimary(t):
		return p.filtered()
	case t.is("//"):
		p.next()
		return &path{at: at(t.col), absolute: true, steps: p.steps(anyNode(at(t.col)))}
	case t.is("/"):
		p.next()
		whole := &path{at: at(t.col), absolute: true}
		if startsStep(p.peek()) {
			whole.steps = p.steps()
		}
		return whole
	}
	return &path{at: at(t.col), steps: p.steps()}
}

func (p *parser) startsPrimary(t token) bool {
	switch t.kind {
	case numberToken, literalToken, variableToken:
		return true
	case callToken:
		return !isNodeType(t.text)
	}
	return t.is("(")
}

func startsStep(t token) bool {
	return t.kind == nameToken || t.kind == callToken || t.kind == axisToken || t.is(".", "..", "@")
}

func isNodeType(name string) bool {
	return slices.Contains([]string{"node", "text", "comment", "processing-instruction"}, name)
}

// filtered reads a primary expression with the predicates and steps after it.
func (p *parser) filtered() expression {
	start := p.peek()
	base := p.primary()
	preds := p.predicates()
	var steps []*step
	if t, ok := p.accept("/", "//"); ok {
		if t.text == "//" {
			steps = append(steps, anyNode(at(t.col)))
		}
		steps = p.steps(steps...)
	}
	if preds == nil && steps == nil {
		return base
	}
	return &path{at: at(start.col), base: base, preds: preds, steps: steps}
}

func (p *parser) primary() expression {
	switch t := p.next(); t.kind {
	case numberToken:
		value, _ := strconv.ParseFloat(t.text, 64) // what is too big is Infinity
		return &literal{at(t.col), value}
	case literalToken:
		return &literal{at(t.col), t.text}
	case variableToken:
		v := variable{at(t.col), t.text}
		p.vars = append(p.vars, v)
		return &v
	case callToken:
		return p.call(t)
	default: // (
		e := p.expr()
		p.expect(")")
		return e
	}
}

func (p *parser) call(name token) expression {
	p.expect("(")
	c := &call{at: at(name.col), name: name.text}
	if _, empty := p.accept(")"); !empty {
		for more := true; more; _, more = p.accept(",") {
			c.args = append(c.args, p.expr())
		}
		p.expect(")")
	}
	checkCall(c)
	return c
}

// steps reads a relative location path after the steps that begin it.
func (p *parser) steps(steps ...*step) []*step {
	for {
		steps = append(steps, p.step())
		t, ok := p.accept("/", "//")
		if !ok {
			return steps
		}
		if t.text == "//" {
			steps = append(steps, anyNode(at(t.col)))
		}
	}
}

func (p *parser) step() *step {
	t := p.next()
	s := &step{at: at(t.col), axis: "child"}
	switch {
	case t.is("."):
		s.axis, s.test = "self", "node()"
		return s
	case t.is(".."):
		s.axis, s.test = "parent", "node()"
		return s
	case t.is("@"):
		s.axis = "attribute"
		t = p.next()
	case t.kind == axisToken:
		checkAxis(t)
		s.axis = t.text
		t = p.next()
	}
	s.test = p.nodeTest(t)
	if s.axis == "ancestor-or-self" && s.test == "node()" {
		fail(ErrUnsupported, s.column(), "ancestor-or-self::node(): the engine takes the document and processing "+
			"instructions for the same node; write ancestor-or-self::* or ancestor::node()")
	}
	s.preds = p.predicates()
	return s
}

func (p *parser) nodeTest(t token) string {
	switch {
	case t.kind == nameToken:
		checkPrefix(t)
		return t.text
	case t.kind != callToken:
		fail(ErrSyntax, t.col, "%s where a name or * is wanted", t)
	case t.text == "processing-instruction":
		fail(ErrUnsupported, t.col, "processing-instruction(): the engine finds elements instead; "+
			"select node() and look at what it gives")
	case !isNodeType(t.text):
		fail(ErrSyntax, t.col, "%s() where a name or * is wanted", t)
	}
	p.expect("(")
	p.expect(")")
	return t.text + "()"
}

func (p *parser) predicates() []expression {
	var preds []expression
	for {
		if _, ok := p.accept("["); !ok {
			return preds
		}
		preds = append(preds, p.expr())
		p.expect("]")
	}
}
