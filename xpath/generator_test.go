package xpath_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes random expressions that are valid XPath 1.0 and ask about what
// is in the test document. It leaves out what libxml2 has its own mind about: the
// digits of a quotient, and '-' as a number.
type generator struct{ *rand.Rand }

func (g *generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) whole() string {
	switch n := g.IntN(10); {
	case n < 6:
		return g.top(3)
	case n < 8:
		return g.number(2, true)
	case n < 9:
		return g.text(2, true)
	}
	return g.test(2, true)
}

// top is a set of nodes outside of all predicates.
func (g *generator) top(depth int) string {
	switch n := g.IntN(10); {
	case n < 1 && depth > 0:
		return g.top(depth-1) + " | " + g.top(depth-1)
	case n < 3 && depth > 0:
		var out strings.Builder
		out.WriteString("(" + g.top(depth-1) + ")")
		for g.chance(60) {
			out.WriteString(g.predicate(depth - 1))
		}
		if g.chance(40) {
			out.WriteString(g.pick("/", "//") + g.steps(depth-1))
		}
		return out.String()
	}
	return g.pick("REL", "/EventStream/", "//", "/", "REL.//") + g.steps(depth)
}

func (g *generator) steps(depth int) string {
	var out strings.Builder
	out.WriteString(g.step(depth))
	for g.chance(40) {
		out.WriteString(g.pick("/", "/", "/", "//") + g.step(depth))
	}
	if g.chance(25) {
		out.WriteString(g.pick("/", "/", "//") + g.attribute())
	}
	return out.String()
}

func (g *generator) attribute() string {
	return "@" + g.pick("id", "status", "n", "error", "prev", "attempt", "msg", "*", "m", "price", "xml:lang")
}

func (g *generator) step(depth int) string {
	if g.chance(8) {
		return g.pick(".", "..")
	}
	out := ""
	if g.chance(30) {
		out = g.pick("self", "parent", "ancestor", "ancestor-or-self", "descendant", "descendant-or-self",
			"following", "following-sibling", "preceding", "preceding-sibling", "child") + "::"
	}
	out += g.pick("Event", "Event", "Event", "Input", "Attempt", "item", "a", "b", "note", "order", "*", "*",
		"node()", "text()", "comment()", "EventStream")
	for g.chance(45) && depth > 0 {
		out += g.predicate(depth - 1)
	}
	return out
}

func (g *generator) predicate(depth int) string {
	switch n := g.IntN(12); {
	case n < 2:
		return fmt.Sprintf("[%d]", g.IntN(4))
	case n < 3:
		return "[" + g.pick("last()", "position()=last()", "last()-1", "position()>1", "position() mod 2 = 1",
			"position()!=last()", "position()<3 and "+g.test(depth, false), "position()=2",
			"position()>1 and position()<4", g.test(depth, false)+" and position()>1 and position()<last()",
			"not(position()=1) or last()=1", "@n and position()=1") + "]"
	}
	return "[" + g.test(depth, false) + "]"
}

// inner is a path in a predicate, or at the top where the context is known.
func (g *generator) inner(depth int, top bool) string {
	if top {
		return g.top(depth)
	}
	switch n := g.IntN(10); {
	case n < 5:
		return g.attribute()
	case n < 6:
		return g.pick(".", "..", "../@id", "..//@n", "*/*", "text()", "//Event/@prev", "/EventStream/@name")
	case n < 7:
		return "//" + g.steps(depth)
	case n < 8:
		return ".//" + g.steps(depth)
	}
	return g.steps(depth)
}

func (g *generator) test(depth int, top bool) string {
	if depth == 0 && top {
		return g.pick("true()", "'init'=//@status", "//@n>2", "//item[3]='x'")
	}
	if depth == 0 {
		return g.pick("@id='01.00'", "@status='init'", "@prev", "@n", "'aborted'=@status", "@n=1", "2<@attempt", "*", "true()")
	}
	d := depth - 1
	switch g.IntN(11) {
	case 0:
		return g.test(d, top) + " and " + g.test(d, top)
	case 1:
		return g.test(d, top) + " or " + g.test(d, top)
	case 2:
		return "not(" + g.any(d, top) + ")"
	case 3:
		return "boolean(" + g.any(d, top) + ")"
	case 4:
		return g.pick("contains", "starts-with") + "(" + g.any(d, top) + "," + g.any(d, top) + ")"
	case 5, 6, 7, 8:
		return g.any(d, top) + g.pick("=", "!=", "<", "<=", ">", ">=", "=") + g.any(d, top)
	}
	if top {
		return "boolean(" + g.inner(d, top) + ")"
	}
	return g.inner(d, top)
}

func (g *generator) any(depth int, top bool) string {
	switch g.IntN(6) {
	case 0:
		return g.number(depth, top)
	case 1, 2:
		return g.text(depth, top)
	case 3:
		if depth > 0 {
			return "(" + g.test(depth-1, top) + ")"
		}
	}
	return g.inner(depth, top)
}

func (g *generator) number(depth int, top bool) string {
	if depth == 0 {
		return g.pick("0", "1", "2", "3", "-1", "2.5", "10", "0 div 0")
	}
	d := depth - 1
	switch g.IntN(8) {
	case 0:
		return "(" + g.number(d, top) + g.pick(" + ", " - ", " * ", " mod ") + g.number(d, top) + ")"
	case 1, 2:
		return "count(" + g.inner(d, top) + ")"
	case 3:
		return "number(" + g.any(d, top) + ")"
	case 4:
		return g.pick("floor", "ceiling", "round") + "(" + g.number(d, top) + ")"
	case 5:
		return "string-length(" + g.any(d, top) + ")"
	case 6:
		if top {
			return "sum(" + g.top(d) + ")"
		}
		return "-" + g.number(d, top)
	}
	return g.number(0, top)
}

func (g *generator) text(depth int, top bool) string {
	if depth == 0 {
		return g.pick("'init'", "'01.00'", "'timeout'", `"it's"`, "''", "'0'", "'1'", "'2'", "'ůň'", "'a'")
	}
	d := depth - 1
	switch g.IntN(9) {
	case 0:
		return "concat(" + g.any(d, top) + "," + g.any(d, top) + ")"
	case 1, 2:
		return "string(" + g.any(d, top) + ")"
	case 3:
		return g.pick("name", "local-name") + "(" + g.inner(d, top) + ")"
	case 4:
		return "normalize-space(" + g.any(d, top) + ")"
	case 5:
		return g.pick("substring-before", "substring-after") + "(" + g.any(d, top) + "," + g.pick("'.'", "'0'", "'t'", "' '") + ")"
	case 6:
		return "substring(" + g.any(d, top) + "," + g.number(d, top) + strings.Repeat(","+g.number(d, top), g.IntN(2)) + ")"
	case 7:
		return "translate(" + g.any(d, top) + "," + g.text(0, top) + "," + g.text(0, top) + ")"
	}
	return g.text(0, top)
}
