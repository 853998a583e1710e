package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/leasestream/leasestream/internal/nearest"
)

// maxSource is the size of the largest file, in bytes: the work of the YAML parser
// grows with the square of it.
const maxSource = 64 << 10

// reader collects what a file says, and what is wrong with it.
type reader struct {
	file     string
	settings []Setting
	problems Problems
}

func (r *reader) wrong(at *token.Token, format string, args ...any) {
	p := Problem{File: r.file, Line: 1, Column: 1, Text: fmt.Sprintf(format, args...)}
	if at != nil {
		p.Line, p.Column = at.Position.Line, at.Position.Column
	}
	r.problems = append(r.problems, p)
}

// parse is the YAML tree; nil if there is none, for which there may be a problem.
func (r *reader) parse(source []byte) ast.Node {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	// The lexer would count a CRLF after a comment as two lines.
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	switch {
	case len(source) > maxSource:
		r.wrong(nil, "the file is larger than %d KiB", maxSource>>10)
		return nil
	case bytes.ContainsFunc(source, unreadable):
		r.wrong(nil, "the file is not UTF-8 text")
		return nil
	}
	file, err := parseYAML(source)
	if err != nil {
		r.syntax(err)
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType:
		case root != nil:
			r.wrong(begin(doc.Body), "a second document begins here: a file holds one")
		default:
			root = doc.Body
		}
	}
	return root
}

func unreadable(c rune) bool {
	return c == utf8.RuneError || unicode.IsControl(c) && c != '\n' && c != '\t'
}

// parseYAML runs the parser, of which a panic would otherwise end the process.
func parseYAML(source []byte) (file *ast.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cannot be read as YAML: %v", v)
		}
	}()
	return parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey())
}

func (r *reader) syntax(err error) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		r.wrong(e.GetToken(), "%s", e.GetMessage())
		return
	}
	r.wrong(nil, "%v", err)
}

// section reads a mapping of settings and of further sections.
func (r *reader) section(n ast.Node, names []string, schema *Schema) {
	entries, ok := entriesOf(n)
	if !ok {
		r.wrong(begin(n), "want settings as KEY: VALUE, got %s", kindOf(n))
		return
	}
	lines := map[string]int{} // :: key → line
	for _, entry := range entries {
		key := entry.Key.GetToken()
		if first := lines[key.Value]; first > 0 {
			r.wrong(key, "key %q is given twice, the first time in line %d", key.Value, first)
			continue
		}
		lines[key.Value] = key.Position.Line
		r.entry(key, entry.Value, names, schema)
	}
}

func (r *reader) entry(key *token.Token, value ast.Node, names []string, schema *Schema) {
	inner, isSection := schema.Sections[key.Value]
	switch {
	case isSection && value.Type() == ast.NullType: // nothing in it
	case isSection:
		r.section(value, append(slices.Clip(names), key.Value), inner)
	case slices.Contains(schema.Keys, key.Value):
		r.setting(key, value, names)
	default:
		r.wrong(key, "unknown key %q%s", key.Value, suggest(key.Value, schema))
	}
}

// suggest says what to do about an unknown key.
func suggest(name string, schema *Schema) string {
	if sections := holding(name, schema); len(sections) > 0 {
		return "; it belongs in a section: " + strings.Join(sections, ", ")
	}
	known := slices.Concat(schema.Keys, slices.Sorted(maps.Keys(schema.Sections)))
	if near := nearest.Of(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; known here: " + strings.Join(known, ", ")
}

// holding are the names of the sections below that have a key.
func holding(name string, schema *Schema) []string {
	var sections []string
	for _, section := range slices.Sorted(maps.Keys(schema.Sections)) {
		inner := schema.Sections[section]
		if slices.Contains(inner.Keys, name) {
			sections = append(sections, section)
		}
		for _, below := range holding(name, inner) {
			sections = append(sections, section+" "+below)
		}
	}
	return sections
}

func (r *reader) setting(key *token.Token, value ast.Node, names []string) {
	s := Setting{
		Section: names, Key: key.Value,
		Place: fmt.Sprintf("%s:%d:%d", r.file, key.Position.Line, key.Position.Column),
	}
	items := []ast.Node{value}
	if list, ok := value.(*ast.SequenceNode); ok {
		items = list.Values
	}
	for _, item := range items {
		text, ok := textOf(item)
		if !ok {
			r.wrong(begin(item), "%s: want a value, got %s", key.Value, kindOf(item))
			return
		}
		s.Values = append(s.Values, text)
	}
	r.settings = append(r.settings, s)
}

func entriesOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// textOf is a scalar as it is written.
func textOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// begin is where a node begins; the parser's own place of a block mapping is that
// of its first colon.
func begin(n ast.Node) *token.Token {
	if entries, ok := entriesOf(n); ok && len(entries) > 0 {
		return entries[0].Key.GetToken()
	}
	return n.GetToken()
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, an alias or a tag, of which there are none here"
	}
	return "text"
}
