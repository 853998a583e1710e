package xpath

import (
	"slices"
	"strings"
)

// function says how a function of XPath 1.0 is called.
type function struct {
	min, max int // arguments
	result   kind
	// What the arguments are converted to; the last one stands for all that
	// follow. Functions without it are evaluated one by one.
	args []kind
	// Without an argument, the function is about the context node.
	context bool
}

// manyArgs bounds concat.
const manyArgs = 1000

// functions are those that the engine evaluates correctly, or that are evaluated
// here. true and false have no arguments.
var functions = map[string]function{
	"boolean":          {min: 1, max: 1, result: booleanKind},
	"ceiling":          {min: 1, max: 1, result: numberKind, args: []kind{numberKind}},
	"concat":           {min: 2, max: manyArgs, result: textKind, args: []kind{textKind}},
	"contains":         {min: 2, max: 2, result: booleanKind, args: []kind{textKind}},
	"count":            {min: 1, max: 1, result: numberKind},
	"false":            {result: booleanKind},
	"floor":            {min: 1, max: 1, result: numberKind, args: []kind{numberKind}},
	"last":             {result: numberKind},
	"local-name":       {max: 1, result: textKind, context: true},
	"name":             {max: 1, result: textKind, context: true},
	"normalize-space":  {max: 1, result: textKind, args: []kind{textKind}, context: true},
	"not":              {min: 1, max: 1, result: booleanKind, args: []kind{booleanKind}},
	"number":           {max: 1, result: numberKind, context: true},
	"position":         {result: numberKind},
	"round":            {min: 1, max: 1, result: numberKind, args: []kind{numberKind}},
	"starts-with":      {min: 2, max: 2, result: booleanKind, args: []kind{textKind}},
	"string":           {max: 1, result: textKind, context: true},
	"string-length":    {max: 1, result: numberKind, args: []kind{textKind}, context: true},
	"substring":        {min: 2, max: 3, result: textKind, args: []kind{textKind, numberKind}},
	"substring-after":  {min: 2, max: 2, result: textKind, args: []kind{textKind}},
	"substring-before": {min: 2, max: 2, result: textKind, args: []kind{textKind}},
	"sum":              {min: 1, max: 1, result: numberKind},
	"translate":        {min: 3, max: 3, result: textKind, args: []kind{textKind}},
	"true":             {result: booleanKind},
}

// instead has what to write for functions that are refused: those of XPath 1.0
// that the engine lacks or gets wrong, and those of XPath 2.0 that it has.
var instead = map[string]string{
	"id":            "write ./Event[@id='01.00']",
	"lang":          "compare @xml:lang",
	"namespace-uri": "namespaces are not resolved; compare name(), which has the prefix",
	"ends-with":     "it is XPath 2.0; write substring(x, string-length(x) - string-length(y) + 1) = y",
	"lower-case":    "it is XPath 2.0; write translate(x, 'ABC…', 'abc…')",
	"matches":       "it is XPath 2.0; use contains() or starts-with()",
	"replace":       "it is XPath 2.0; use translate() or concat()",
	"reverse":       "it is XPath 2.0; nodes come in the order of the document",
	"string-join":   "it is XPath 2.0; select the nodes and join them",
}

func checkCall(c *call) {
	f, ok := functions[c.name]
	switch {
	case !ok && instead[c.name] != "":
		fail(ErrUnsupported, c.column(), "%s(): %s", c.name, instead[c.name])
	case !ok:
		fail(ErrUnsupported, c.column(), "there is no function %s()", c.name)
	case len(c.args) < f.min:
		fail(ErrSyntax, c.column(), "%s() has %d arguments, want at least %d", c.name, len(c.args), f.min)
	case len(c.args) > f.max:
		fail(ErrSyntax, c.column(), "%s() has %d arguments, want at most %d", c.name, len(c.args), f.max)
	}
}

var axes = []string{
	"ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
	"following", "following-sibling", "parent", "preceding", "preceding-sibling", "self",
}

func checkAxis(t token) {
	switch {
	case t.text == "namespace":
		fail(ErrUnsupported, t.col, "namespace::: namespaces are not resolved; names are compared as they are written")
	case !slices.Contains(axes, t.text):
		fail(ErrSyntax, t.col, "there is no axis %s::", t.text)
	}
}

func checkPrefix(t token) {
	prefix, local, ok := strings.Cut(t.text, ":")
	if ok && (prefix != "xml" || local == "*") {
		fail(ErrUnsupported, t.col, "%s: nothing tells what the prefix %s stands for; write *[name()='%s']",
			t.text, prefix, t.text)
	}
}
