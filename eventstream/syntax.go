package eventstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the size over which a document is refused, when it is read and when
// an edit would make it so.
const MaxBytes = 256 << 20

// ErrMalformed is matched by every error about a document that was refused. Such
// a document must never be written over.
var ErrMalformed = errors.New("malformed event-stream")

// SyntaxError says where and why a document was refused. It matches
// [ErrMalformed].
type SyntaxError struct {
	Line   int // from 1
	Column int // from 1, in characters
	Msg    string
}

// Error has line, column and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v: line %d, column %d: %s", ErrMalformed, e.Line, e.Column, e.Msg)
}

// Unwrap returns ErrMalformed.
func (e *SyntaxError) Unwrap() error { return ErrMalformed }

// syntaxError places a message. Lines end as XML has it: by LF, CR LF or a lone
// CR. A byte order mark takes no column.
func syntaxError(src string, at int, format string, args ...any) *SyntaxError {
	before := lineEnds(strings.TrimPrefix(src[:min(at, len(src))], byteOrderMark))
	lastLine := before[strings.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(lastLine) + 1,
		Msg:    fmt.Sprintf(format, args...),
	}
}

// bailout carries a SyntaxError up to recoverSyntax.
type bailout struct{ err *SyntaxError }

func recoverSyntax(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		*err = r.err
	default:
		panic(r)
	}
}

const byteOrderMark = "\uFEFF"

// foreignEncodings are told by how a document begins in them, with or without a
// byte order mark. UTF-32 comes first: its little-endian mark begins with that
// of UTF-16.
var foreignEncodings = []struct{ prefix, name string }{
	{"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe\x00\x00", "UTF-32"},
	{"\x00\x00\x00<", "UTF-32"}, {"<\x00\x00\x00", "UTF-32"},
	{"\xfe\xff", "UTF-16"}, {"\xff\xfe", "UTF-16"},
	{"\x00<", "UTF-16"}, {"<\x00", "UTF-16"},
	{"\x4c\x6f\xa7\x94", "EBCDIC"},
}

func checkSizeAndEncoding(data []byte) error {
	if len(data) > MaxBytes {
		return syntaxError("", 0, "the document has %d bytes, the limit is %d", len(data), MaxBytes)
	}
	for _, enc := range foreignEncodings {
		if bytes.HasPrefix(data, []byte(enc.prefix)) {
			return syntaxError("", 0, "the encoding is %s; an event-stream is UTF-8", enc.name)
		}
	}
	return nil
}

// checkChars refuses what no XML 1.0 document in UTF-8 can hold, in passes over
// the whole document, so that the scanner need not look at each character. A
// document in ASCII takes one.
func checkChars(data []byte, src string) error {
	at, ascii := forbiddenByte(data)
	if !ascii {
		if bad := invalidUTF8(data); bad >= 0 && (at < 0 || bad < at) {
			return syntaxError(src, bad, "invalid UTF-8")
		}
		if bad := noncharacter(data); bad >= 0 && (at < 0 || bad < at) {
			at = bad
		}
	}
	if at < 0 {
		return nil
	}
	r, _ := utf8.DecodeRune(data[at:])
	return syntaxError(src, at, "character %U is not allowed in XML", r)
}

// forbiddenByte finds the first control character, or -1. A document is ascii if
// nothing before that says otherwise.
func forbiddenByte(data []byte) (at int, ascii bool) {
	const high = 0x80 * ones
	var all uint64
	i := 0
	for ; i+16 <= len(data); i += 16 {
		x := binary.LittleEndian.Uint64(data[i:])
		y := binary.LittleEndian.Uint64(data[i+8:])
		all |= x | y
		// The high bit of a byte is set where that byte may be below 0x20.
		if ((x-0x20*ones)&^x|(y-0x20*ones)&^y)&high != 0 {
			if at := controlChar(data, i, i+16); at >= 0 {
				return at, false
			}
		}
	}
	for _, c := range data[i:] {
		all |= uint64(c)
	}
	return controlChar(data, i, len(data)), all&high == 0
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
}

// noncharacter finds U+FFFE or U+FFFF, which are EF BF BE and EF BF BF.
func noncharacter(data []byte) int {
	for i := 0; ; i += 2 {
		n := bytes.Index(data[i:], []byte("\xef\xbf"))
		if n < 0 {
			return -1
		}
		if i += n; i+2 < len(data) && data[i+2] >= 0xbe {
			return i
		}
	}
}

func controlChar(data []byte, from, to int) int {
	for i := from; i < to; i++ {
		if c := data[i]; c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			return i
		}
	}
	return -1
}
