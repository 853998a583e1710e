package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxTokens bounds the work on a file: the parser's grows with the square of the
// number of tokens. It is room for some 500 steps.
const maxTokens = 20_000

// refused are the parts of YAML that a pipeline file does without: each would let
// a short text stand for a long one, or the same text mean different things.
var refused = map[token.Type]string{
	token.AnchorType:     "an anchor (&) is not supported: write the value where it is used",
	token.AliasType:      "an alias (*) is not supported: write the value out, or quote the text",
	token.MergeKeyType:   "a merge key (<<) is not supported: write the keys out",
	token.TagType:        "a tag (!) is not supported: leave it out, or quote the text",
	token.MappingKeyType: `a "? " key is not supported: write "key: value", or quote the text`,
	token.DirectiveType:  "a directive (%) is not supported: leave it out, or quote the text",
}

// parse is the YAML tree of a file; nil, with the reason reported, if it has none.
func (r *reader) parse(source []byte) ast.Node {
	text, ok := r.text(source)
	if !ok {
		return nil
	}
	r.lines = strings.Split(text, "\n")
	tokens, ok := r.tokens(text)
	if !ok {
		return nil
	}
	file, err := parseTokens(tokens)
	if err != nil {
		r.syntax(err)
		return nil
	}
	return r.document(file)
}

// text is the source as LF lines without a byte order mark. The CRs go because
// the lexer counts a CRLF after a comment as two lines.
func (r *reader) text(source []byte) (string, bool) {
	if len(source) > maxSource {
		r.add(place{}, "the file is larger than 1 MiB")
		return "", false
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	text := string(bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")))
	if i := strings.IndexFunc(text, unreadable); i >= 0 {
		r.add(placeIn(text, i), "%s", describe(text[i:]))
		return "", false
	}
	return text, true
}

// unreadable finds what no text has: control characters, and bytes that are not
// UTF-8, for which a range over a string yields the replacement character.
func unreadable(c rune) bool {
	return c == utf8.RuneError || unicode.IsControl(c) && c != '\n' && c != '\t'
}

func describe(rest string) string {
	c, size := utf8.DecodeRuneInString(rest)
	if c == utf8.RuneError && size == 1 {
		return fmt.Sprintf("byte 0x%02x: the file is not UTF-8", rest[0])
	}
	return fmt.Sprintf("character %U cannot stand in a pipeline file", c)
}

// placeIn is the place of a byte of a text.
func placeIn(text string, offset int) place {
	before := text[:offset]
	return place{
		line:   strings.Count(before, "\n") + 1,
		column: utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1,
	}
}

func (r *reader) tokens(text string) (token.Tokens, bool) {
	tokens := lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		r.add(at(tokens[maxTokens]), "the file is too large: more than %d YAML tokens", maxTokens)
		return nil, false
	}
	for _, t := range tokens {
		if reason, ok := refused[t.Type]; ok {
			r.add(at(t), "%s", reason)
		}
	}
	return tokens, len(r.problems) == 0
}

// parseTokens runs the YAML parser. Should it panic, that is the end of the file
// and not of the worker that was given it.
func parseTokens(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cannot be read as YAML: %v", v)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

func (r *reader) document(file *ast.File) ast.Node {
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			r.add(placeOf(doc.Body), "a second document begins here: a file holds one pipeline")
			return nil
		default:
			root = doc.Body
		}
	}
	if root == nil {
		r.add(place{}, "the file is empty: a pipeline has a name and steps")
	}
	return root
}

// syntax reports an error of the YAML parser, with a word on what is behind the
// two that people meet most.
func (r *reader) syntax(err error) {
	var where place
	text := err.Error()
	if e, ok := errors.AsType[yaml.Error](err); ok {
		text = e.GetMessage()
		if t := e.GetToken(); t != nil {
			where = at(t)
		}
	}
	switch line := r.line(where.line); {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		text += "; YAML is indented by spaces, not tabs"
	case strings.Contains(line, "{{"):
		text += `; text with {{ }} has to stand in quotes: "{{.Input}}"`
	}
	r.add(where, "%s", text)
}

// line is a line of the file; "" if there is none of this number.
func (r *reader) line(number int) string {
	if number < 1 || number > len(r.lines) {
		return ""
	}
	return r.lines[number-1]
}

func at(t *token.Token) place { return place{line: t.Position.Line, column: t.Position.Column} }

// placeOf is where a node begins; the parser's own place of a block mapping is
// that of its first colon.
func placeOf(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key)
	}
	return at(n.GetToken())
}
