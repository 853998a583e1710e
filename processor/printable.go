package processor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReason bounds the text that a failed attempt leaves in the document.
const maxReason = 2 << 10

// printable makes a text that comes from a handler fit to be kept in an
// attribute: what XML cannot carry is replaced, the end of a long one counts.
func printable(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) > maxReason {
		s = "…" + strings.ToValidUTF8(s[len(s)-maxReason:], "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, s)
}
