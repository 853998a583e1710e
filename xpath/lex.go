package xpath

import (
	"slices"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	endToken      tokenKind = iota
	numberToken             // 12.5
	literalToken            // 'text', without its quotes
	variableToken           // $name, without the $
	nameToken               // a name test: name, prefix:name, prefix:* or *
	callToken               // the name of a function or a node type: a ( follows
	axisToken               // the name of an axis, without the ::
	operatorToken           // and or mod div * + - = != < <= > >= | / //
	punctToken              // ( ) [ ] . .. @ ,
)

type token struct {
	kind tokenKind
	text string
	col  int
}

func (t token) is(texts ...string) bool {
	if t.kind != operatorToken && t.kind != punctToken {
		return false
	}
	return slices.Contains(texts, t.text)
}

// String names the token in messages.
func (t token) String() string {
	switch t.kind {
	case endToken:
		return "the end"
	case variableToken:
		return "$" + t.text
	case axisToken:
		return t.text + "::"
	}
	return t.text
}

// lexer cuts an expression into tokens. It is ours because the engine's own
// passes over what it does not understand: it reads 1e5 as 1 and stops at a
// bracket too many.
type lexer struct {
	src    string
	pos    int
	col    int // of pos, in characters from 1
	tokens []token
}

func lex(src string) []token {
	lx := &lexer{src: src, col: 1}
	for lx.skipSpace(); lx.pos < len(src); lx.skipSpace() {
		lx.next()
	}
	return append(lx.tokens, token{kind: endToken, col: lx.col})
}

func (lx *lexer) skipSpace() {
	for lx.pos < len(lx.src) && strings.IndexByte(" \t\r\n", lx.src[lx.pos]) >= 0 {
		lx.pos++
		lx.col++
	}
}

func (lx *lexer) next() {
	rest := lx.src[lx.pos:]
	switch c := rest[0]; {
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		lx.number(rest)
	case c == '\'' || c == '"':
		lx.literal(rest)
	case c == '$':
		lx.variable(rest)
	case nameLen(rest) > 0:
		lx.name(rest)
	case c == '*' && lx.operandEnded():
		lx.take(operatorToken, rest[:1])
	case c == '*':
		lx.take(nameToken, rest[:1])
	default:
		lx.symbol(rest)
	}
}

// take ends a token whose text is the given one, as it stands in the source.
func (lx *lexer) take(kind tokenKind, text string) {
	lx.tokens = append(lx.tokens, token{kind, text, lx.col})
	lx.skip(text)
}

func (lx *lexer) skip(text string) {
	lx.pos += len(text)
	lx.col += utf8.RuneCountInString(text)
}

func (lx *lexer) number(rest string) {
	n := digits(rest)
	if n < len(rest) && rest[n] == '.' {
		n++
		n += digits(rest[n:])
	}
	if n < len(rest) && (rest[n] == '.' || nameLen(rest[n:]) > 0) {
		fail(ErrSyntax, lx.col, "%q goes on after its digits; write a number as 12 or 12.5", rest[:n+1])
	}
	lx.take(numberToken, rest[:n])
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (lx *lexer) literal(rest string) {
	n := strings.IndexByte(rest[1:], rest[0])
	if n < 0 {
		fail(ErrSyntax, lx.col, "the text that begins here is not closed with %c", rest[0])
	}
	lx.take(literalToken, rest[1:1+n])
	lx.pos, lx.col = lx.pos+2, lx.col+2
}

func (lx *lexer) variable(rest string) {
	n := nameLen(rest[1:])
	if n == 0 {
		fail(ErrSyntax, lx.col, "$ without the name of a variable")
	}
	lx.take(variableToken, rest[1:1+n])
	lx.pos, lx.col = lx.pos+1, lx.col+1
}

// name reads a name and finds out what it is, by XPath 1.0 §3.7.
func (lx *lexer) name(rest string) {
	name := rest[:nameLen(rest)]
	after := strings.TrimLeft(rest[len(name):], " \t\r\n")
	switch {
	case lx.operandEnded():
		if name != "and" && name != "or" && name != "mod" && name != "div" {
			fail(ErrSyntax, lx.col, "%s where an operator is wanted", name)
		}
		lx.take(operatorToken, name)
	case strings.HasPrefix(after, "::"):
		lx.take(axisToken, name)
		lx.skip(rest[len(name) : len(rest)-len(after)+2])
	case strings.HasPrefix(rest[len(name):], ":"):
		lx.qualified(rest, name)
	case strings.HasPrefix(after, "("):
		lx.take(callToken, name)
	default:
		lx.take(nameToken, name)
	}
}

// qualified reads prefix:name and prefix:*.
func (lx *lexer) qualified(rest, prefix string) {
	local := rest[len(prefix)+1:]
	n := nameLen(local)
	switch {
	case n == 0 && strings.HasPrefix(local, "*"):
		n = 1
	case n == 0:
		fail(ErrSyntax, lx.col, "%s: is no name", prefix)
	case strings.HasPrefix(strings.TrimLeft(local[n:], " \t\r\n"), "("):
		fail(ErrUnsupported, lx.col, "there is no function %s:%s()", prefix, local[:n])
	}
	lx.take(nameToken, rest[:len(prefix)+1+n])
}

func (lx *lexer) symbol(rest string) {
	for _, symbol := range []string{"//", "..", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, symbol) {
			lx.take(symbolKind(symbol), symbol)
			return
		}
	}
	if strings.IndexByte("()[].@,+-=<>|/", rest[0]) < 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		fail(ErrSyntax, lx.col, "unexpected %q", r)
	}
	lx.take(symbolKind(rest[:1]), rest[:1])
}

func symbolKind(symbol string) tokenKind {
	switch symbol {
	case "(", ")", "[", "]", ".", "..", "@", ",":
		return punctToken
	}
	return operatorToken
}

// operandEnded reports whether an operand ends before this place, so that an
// operator must follow: * and the names and, or, mod, div have two meanings.
func (lx *lexer) operandEnded() bool {
	if len(lx.tokens) == 0 {
		return false
	}
	last := lx.tokens[len(lx.tokens)-1]
	switch last.kind {
	case operatorToken, axisToken:
		return false
	case punctToken:
		return !last.is("(", "[", "@", ",")
	}
	return true
}

// nameLen returns the length of the XML name without a colon that s begins with.
func nameLen(s string) int {
	for i, r := range s {
		if !isNameRune(r, i == 0) {
			return i
		}
	}
	return len(s)
}

func isNameRune(r rune, first bool) bool {
	switch {
	case r == '_', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
		return true
	case r == '-', r == '.', '0' <= r && r <= '9', r == 0xB7:
		return !first
	}
	return r >= 0xC0 && r != 0xD7 && r != 0xF7 && r != 0x37E && !isGap(r, first)
}

// isGap has the ranges above U+00C0 that XML 1.0 (fifth edition) takes out of
// names, or only of their first character.
func isGap(r rune, first bool) bool {
	switch {
	case 0x300 <= r && r <= 0x36F, 0x203F <= r && r <= 0x2040:
		return first
	case 0x2000 <= r && r <= 0x200B, 0x200E <= r && r <= 0x206F,
		0x2190 <= r && r <= 0x2BFF, 0x2FF0 <= r && r <= 0x3000,
		0xD800 <= r && r <= 0xF8FF, 0xFDD0 <= r && r <= 0xFDEF, 0xFFFE <= r && r <= 0xFFFF:
		return true
	}
	return r >= 0xF0000
}
