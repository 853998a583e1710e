package rules

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// ParseID reads a lease ID in any form that .NET's Guid reads (plain digits,
// hyphens, hyphens in braces or parentheses, hexadecimal fields in braces) and
// returns it in the lower-case form with hyphens.
func ParseID(s string) (id string, ok bool) {
	digits, ok := guidDigits(strings.TrimSpace(s))
	if !ok {
		return "", false
	}
	var u uuid.UUID
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return "", false
	}
	return u.String(), true
}

// guidDigits brings a GUID down to 32 characters, which may still not be
// hexadecimal.
func guidDigits(s string) (string, bool) {
	if strings.HasPrefix(s, "{0x") {
		return hexFields(s)
	}
	switch len(s) {
	case 32:
		return s, true
	case 36:
		return hyphenated(s)
	case 38:
		open, inner, end := s[0], s[1:37], s[37]
		if open == '{' && end == '}' || open == '(' && end == ')' {
			return hyphenated(inner)
		}
	}
	return "", false
}

// hyphenated takes the hyphens out of 36 characters.
func hyphenated(s string) (string, bool) {
	for _, i := range []int{8, 13, 18, 23} {
		if s[i] != '-' {
			return "", false
		}
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	return digits, true
}

// fieldWidths are the digits of the fields of {0x…,0x…,0x…,{0x…, eight times}}.
var fieldWidths = [...]int{8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2}

// hexFields joins the fields of the hexadecimal form; short fields are filled
// up with zeros.
func hexFields(s string) (string, bool) {
	const braces = "{,,,{,,,,,,,}}"
	fields := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("{,}", r) })
	if len(fields) != len(fieldWidths) || punctuation(s) != braces {
		return "", false
	}
	var b strings.Builder
	for i, field := range fields {
		digits, ok := strings.CutPrefix(field, "0x")
		missing := fieldWidths[i] - len(digits)
		if !ok || digits == "" || missing < 0 {
			return "", false
		}
		b.WriteString(strings.Repeat("0", missing) + digits)
	}
	return b.String(), true
}

func punctuation(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("{,}", r) {
			return r
		}
		return -1
	}, s)
}
