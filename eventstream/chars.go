package eventstream

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrValue is matched when a value is refused because XML cannot carry it.
var ErrValue = errors.New("value cannot be written in XML")

// byteClass says of each byte where it may stand. Bytes beyond ASCII are in names
// by the ranges below.
var byteClass = func() (class [256]uint8) {
	for i := range class {
		c := byte(i)
		letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		digit := '0' <= c && c <= '9'
		if letter || c == ':' || c == '_' {
			class[i] |= nameStart | namePart
		}
		if digit || c == '-' || c == '.' {
			class[i] |= namePart
		}
		if letter || digit || c == '#' {
			class[i] |= inReference
		}
		if !strings.ContainsRune("\"'<&\t\n\r", rune(c)) {
			class[i] |= plainValue
		}
	}
	return class
}()

const (
	nameStart   uint8 = 1 << iota // may begin an XML name
	namePart                      // may go on in one
	inReference                   // may stand between & and ;
	plainValue                    // means itself in the value of an attribute
)

// nameStarts and nameParts are the ranges beyond ASCII of XML 1.0 (fifth
// edition), productions 4 and 4a.
var nameStarts = [][2]rune{
	{0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x2FF}, {0x370, 0x37D}, {0x37F, 0x1FFF},
	{0x200C, 0x200D}, {0x2070, 0x218F}, {0x2C00, 0x2FEF}, {0x3001, 0xD7FF},
	{0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
}

var nameParts = [][2]rune{{0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}

func inRanges(r rune, ranges [][2]rune) bool {
	for _, x := range ranges {
		if x[0] <= r && r <= x[1] {
			return true
		}
	}
	return false
}

// nameLen returns the length of the XML name that s begins with, or 0.
func nameLen(s string) int {
	i := 0
	for i < len(s) {
		want := namePart
		if i == 0 {
			want = nameStart
		}
		if c := s[i]; c < utf8.RuneSelf {
			if byteClass[c]&want == 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 { // invalid UTF-8; the replacement character itself has a place in names
			return i
		}
		if !inRanges(r, nameStarts) && (i == 0 || !inRanges(r, nameParts)) {
			return i
		}
		i += n
	}
	return i
}

// isNameChar reports whether s begins with a character that can go on in a name.
func isNameChar(s string) bool { return nameLen("x"+s[:min(len(s), utf8.UTFMax)]) > 1 }

// isChar is production 2 of XML 1.0.
func isChar(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case 0xD800 <= r && r <= 0xDFFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return r <= utf8.MaxRune
}

// resolve gives the character of a reference, without its & and ;.
func resolve(body string) (rune, bool) {
	switch body {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "apos":
		return '\'', true
	case "quot":
		return '"', true
	}
	digits, base := strings.TrimPrefix(body, "#"), 10
	if digits == body {
		return 0, false
	}
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || !isChar(rune(n)) {
		return 0, false
	}
	return rune(n), true
}

// unescapeAttr gives the value of an attribute as XML normalises it: white space
// becomes a space unless it is written as a reference.
func unescapeAttr(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '&':
			i += unescapeInto(&b, s[i:])
		case '\r':
			b.WriteByte(' ')
			i += crLen(s[i:])
		case '\t', '\n':
			b.WriteByte(' ')
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// skipPlain passes over characters that mean themselves in the value of an attribute,
// whatever its quotes, eight at once. Where it stops there may be another such one.
func skipPlain(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		x := eight(s[i : i+8])
		// The lowest high bit that is set is that of the first byte below 0x20, of the
		// first of "#&' (without the bits in which they differ), or of the first <.
		control, quotes, less := x-0x20*ones, x&^(5*ones)^'"'*ones, x^'<'*ones
		found := (control&^x | (quotes-ones)&^quotes | (less-ones)&^less) & (0x80 * ones)
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && byteClass[s[i]]&plainValue != 0 {
		i++
	}
	return i
}

const ones = 0x0101010101010101

func eight(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// isPlain reports whether an attribute's value is the same unescaped.
func isPlain(s string) bool {
	for i := range len(s) {
		if byteClass[s[i]]&plainValue == 0 && s[i] != '"' && s[i] != '\'' {
			return false
		}
	}
	return true
}

// unescapeText gives character data as XML normalises it: every line end is LF.
func unescapeText(s string) string {
	if !strings.ContainsAny(s, "&\r") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '&':
			i += unescapeInto(&b, s[i:])
		case '\r':
			b.WriteByte('\n')
			i += crLen(s[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// crLen is the length of the line end that begins with the CR at s[0].
func crLen(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	return 1
}

func unescapeInto(b *strings.Builder, s string) int {
	body, _, _ := strings.Cut(s[1:], ";")
	r, _ := resolve(body)
	b.WriteRune(r)
	return len(body) + 2
}

// checkValue refuses what cannot be written in XML in any form.
func checkValue(s string) error {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("%w: invalid UTF-8 at byte %d", ErrValue, i)
		}
		if !isChar(r) {
			return fmt.Errorf("%w: character %U at byte %d", ErrValue, r, i)
		}
		i += n
	}
	return nil
}

// writeAttrValue writes s as it stands between the given quotes.
func writeAttrValue(b *strings.Builder, s string, quote byte) {
	done := 0
	for i := range len(s) {
		if byteClass[s[i]]&plainValue != 0 {
			continue
		}
		if ref := attrReference(s[i], quote); ref != "" {
			b.WriteString(s[done:i])
			b.WriteString(ref)
			done = i + 1
		}
	}
	b.WriteString(s[done:])
}

func attrReference(c, quote byte) string {
	switch {
	case c == '&':
		return "&amp;"
	case c == '<':
		return "&lt;"
	case c == '"' && quote == '"':
		return "&quot;"
	case c == '\'' && quote == '\'':
		return "&apos;"
	case c == '\t':
		return "&#x9;"
	case c == '\n':
		return "&#xA;"
	case c == '\r':
		return "&#xD;"
	}
	return ""
}

// writeText writes s as character data.
func writeText(b *strings.Builder, s string) {
	done := 0
	for i := range len(s) {
		ref := ""
		switch s[i] {
		case '&':
			ref = "&amp;"
		case '<':
			ref = "&lt;"
		case '>':
			ref = "&gt;"
		case '\r':
			ref = "&#xD;"
		default:
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(ref)
		done = i + 1
	}
	b.WriteString(s[done:])
}
