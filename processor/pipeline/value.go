package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// maxExpression is the length of the longest jq expression or template, in bytes.
const maxExpression = 64 << 10

// reader turns the tree of a file into what it means, and reports what it cannot.
type reader struct {
	report
	lines []string // of the file
}

// value is a node of the tree and the key it stands under.
type value struct {
	r    *reader
	key  string
	at   place // of the key if there is no value
	node ast.Node
}

// word is a text and where it stands; the zero word stands for none.
type word struct {
	text  string
	at    place
	block bool // is a block of lines under the place
}

// field is a key that a mapping may have, and what reads its value.
type field struct {
	name string
	read func(value)
}

// keys are the keys that a mapping has, and where.
type keys map[string]place

func (v value) wrong(format string, args ...any) {
	v.r.add(v.at, "%s: %s", v.key, fmt.Sprintf(format, args...))
}

// mapping reads a mapping by its fields. The keys are nil if there is none.
func (v value) mapping(fields ...field) keys {
	entries, ok := v.entries()
	if !ok {
		return nil
	}
	given := keys{}
	for _, entry := range entries {
		v.r.entry(entry, given, fields)
	}
	return given
}

// entries are those of a mapping; false if there is none.
func (v value) entries() ([]*ast.MappingValueNode, bool) {
	switch n := v.node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	v.wrong("want keys and values, got %s", kindOf(v.node))
	return nil, false
}

func (r *reader) entry(entry *ast.MappingValueNode, given keys, fields []field) {
	name, where := entry.Key.GetToken().Value, placeOf(entry.Key)
	if first, ok := given[name]; ok {
		r.add(where, "key %q is given twice, the first time in line %d", name, first.line)
		return
	}
	given[name] = where
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		r.add(where, "unknown key %q; %s", name, instead(name, names(fields)))
		return
	}
	v := value{r: r, key: name, at: where, node: entry.Value}
	if entry.Value.Type() == ast.NullType {
		v.wrong("the value is missing")
		return
	}
	v.at = placeOf(entry.Value)
	fields[i].read(v)
}

// inner are keys of mappings that a step holds.
var inner = map[string]string{
	"to": "split", "join": "split", "policy": "split", "batch": "split",
	"attempts": "retry", "backoff": "retry", "max": "retry",
	"url": "http", "headers": "http",
	"worker": "concurrency", "run": "concurrency",
	"file": "items", "format": "items",
}

// instead says what to do about an unknown key.
func instead(name string, known []string) string {
	if outer := inner[name]; slices.Contains(known, outer) {
		return fmt.Sprintf("it belongs in %s", outer)
	}
	return suggest(name, known)
}

func names(fields []field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.name
	}
	return list
}

// unknown reports whether there are keys besides the fields.
func (k keys) unknown(fields []field) bool {
	known := names(fields)
	for name := range maps.Keys(k) {
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

// list reads a sequence of at least one value.
func (v value) list() []value {
	sequence, ok := v.node.(*ast.SequenceNode)
	switch {
	case !ok:
		v.wrong("want a list, got %s", kindOf(v.node))
		return nil
	case len(sequence.Values) == 0:
		v.wrong("the list is empty")
		return nil
	}
	list := make([]value, len(sequence.Values))
	for i, n := range sequence.Values {
		list[i] = value{r: v.r, key: v.key, at: placeOf(n), node: n}
	}
	return list
}

// text reads a scalar as it is written: 5, true and 0x1F are texts too, so that
// they need no quotes as arguments of a program.
func (v value) text() word {
	w := word{at: v.at}
	switch n := v.node.(type) {
	case *ast.StringNode:
		w.text = n.Value
	case *ast.LiteralNode:
		w.text, w.block = n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		w.text = n.GetToken().Value
	default:
		v.wrong("want text, got %s", kindOf(v.node))
		return word{}
	}
	return w
}

// expression reads a text that is compiled. Compilers go down by recursion, and
// one that goes too deep ends the process; so the text has to be short. It is a
// zero word if there is none.
func (v value) expression() word {
	w := v.text()
	if len(w.text) > maxExpression {
		v.wrong("the text is longer than %d bytes", maxExpression)
		return word{}
	}
	return w
}

// choice reads one of a few texts.
func (v value) choice(known ...string) word {
	w := v.text()
	if w.at == (place{}) || slices.Contains(known, w.text) {
		return w
	}
	v.wrong("%q is none of %s", w.text, strings.Join(known, ", "))
	return word{}
}

// duration reads a duration of Go's form, over 0.
func (v value) duration() time.Duration {
	w := v.text()
	if w.at == (place{}) {
		return 0
	}
	d, err := time.ParseDuration(w.text)
	switch {
	case err != nil:
		v.wrong("want a duration such as 500ms, 30s or 1h30m, got %q", w.text)
	case d <= 0:
		v.wrong("want more than 0, got %s; leave the key out for the default", w.text)
	}
	return max(0, d)
}

// count reads a whole number from 1.
func (v value) count() int {
	w := v.text()
	if w.at == (place{}) {
		return 0
	}
	n, err := strconv.ParseInt(w.text, 10, 32)
	if err != nil || n < 1 {
		v.wrong("want a whole number from 1, got %q", w.text)
		return 0
	}
	return int(n)
}

// within is the place of a byte of a word. It is that of the whole word where
// quotes, escapes or folding have moved the text.
func (r *reader) within(w word, offset int) place {
	offset = max(0, min(offset, len(w.text)))
	from := strings.LastIndexByte(w.text[:offset], '\n') + 1
	line, _, more := strings.Cut(w.text[from:], "\n")
	number, start := w.at.line+strings.Count(w.text[:offset], "\n"), 0
	switch {
	case w.block:
		number++
	case from > 0 || more:
		return w.at
	default:
		start = byteOf(r.line(number), w.at.column)
	}
	source := r.line(number)
	i := strings.Index(source[start:], line)
	if i < 0 {
		return w.at
	}
	return place{line: number, column: utf8.RuneCountInString(source[:start+i]+w.text[from:offset]) + 1}
}

// byteOf is the index of the byte in which a column of a line begins.
func byteOf(line string, column int) int {
	for i := range line {
		if column--; column < 1 {
			return i
		}
	}
	return len(line)
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return fmt.Sprintf("%.40q", n.GetToken().Value)
}
