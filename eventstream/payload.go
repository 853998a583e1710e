package eventstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Payload is an input or output: JSON in the document, or the reference to a
// blob that has it (claim check).
type Payload struct {
	JSON   []byte // compact; nil if the payload lies in a blob
	Ref    string // name of the blob
	Bytes  int64  // size of the blob's content
	SHA256 string // of the blob's content, in hex
}

// JSON makes a payload of a value that is JSON already.
func JSON(value []byte) *Payload { return &Payload{JSON: value} }

// element writes a payload as a child element.
func (p *Payload) element(name string) (string, error) {
	if p.Ref != "" {
		var b strings.Builder
		b.WriteString("<" + name)
		if err := p.writeRef(&b); err != nil {
			return "", fmt.Errorf("ref of %s: %w", name, err)
		}
		b.WriteString("/>")
		return b.String(), nil
	}
	text, err := elementOfJSON(name, p.JSON)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// writeRef writes the attributes that refer to a blob.
func (p *Payload) writeRef(b *strings.Builder) error {
	for _, value := range []string{p.Ref, p.SHA256} {
		if err := checkValue(value); err != nil {
			return err
		}
	}
	writeAttr(b, "ref", p.Ref)
	writeAttr(b, "bytes", strconv.FormatInt(p.Bytes, 10))
	writeAttr(b, "sha256", p.SHA256)
	return nil
}

// elementOfJSON writes JSON as an element: without white space, and with \u escapes
// for the characters that XML cannot carry.
func elementOfJSON(name string, value []byte) (string, error) {
	if !utf8.Valid(value) {
		return "", fmt.Errorf("%w: invalid UTF-8", ErrValue)
	}
	open, end := "<"+name+">", "</"+name+">"
	var b bytes.Buffer
	b.Grow(len(open) + len(value) + len(end))
	b.WriteString(open)
	if err := json.Compact(&b, value); err != nil {
		return "", fmt.Errorf("%w: not JSON: %w", ErrValue, err)
	}
	if text := b.Bytes()[len(open):]; bytes.ContainsAny(text, "&<>\uFFFE\uFFFF") {
		return open + escapedJSON(string(text)) + end, nil
	}
	b.WriteString(end)
	return b.String(), nil
}

func escapedJSON(text string) string {
	var b strings.Builder
	writeText(&b, strings.NewReplacer("\uFFFE", `\ufffe`, "\uFFFF", `\uffff`).Replace(text))
	return b.String()
}

// Input is the message of the event; false if it has none.
func (e *Event) Input() (Payload, bool) { return e.payload("Input") }

// Output is the result of the event; false if it has none.
func (e *Event) Output() (Payload, bool) { return e.payload("Output") }

func (e *Event) payload(name string) (Payload, bool) {
	for c := range e.children() {
		if c.name == name {
			return c.payload(), true
		}
	}
	return Payload{}, false
}

// Attempts are the failed attempts of the event, oldest first.
func (e *Event) Attempts() []Attempt {
	var attempts []Attempt
	for c := range e.children() {
		if c.name == "Attempt" {
			n, _ := strconv.Atoi(c.attr("n"))
			log := c.reference()
			attempts = append(attempts, Attempt{
				N: n, Error: c.attr("error"), Detail: c.text(), Ref: log.Ref, Bytes: log.Bytes, SHA256: log.SHA256,
			})
		}
	}
	return attempts
}

// Attempt is one attempt that failed.
type Attempt struct {
	N      int    // the attempt's number
	Error  string // why
	Detail string // such as the last of what the program wrote; may be empty

	// The blob with the log of the attempt, if it was kept.
	Ref    string
	Bytes  int64  // size of the blob's content
	SHA256 string // of the blob's content, in hex
}

// Log is the log of the attempt; false if none was kept.
func (a Attempt) Log() (Payload, bool) {
	return Payload{Ref: a.Ref, Bytes: a.Bytes, SHA256: a.SHA256}, a.Ref != ""
}

func (a Attempt) element() (string, error) {
	var b strings.Builder
	b.WriteString("<Attempt")
	writeAttr(&b, "n", strconv.Itoa(a.N))
	writeAttr(&b, "error", validText(a.Error))
	if log, ok := a.Log(); ok {
		if err := log.writeRef(&b); err != nil {
			return "", fmt.Errorf("ref of Attempt: %w", err)
		}
	}
	if a.Detail == "" {
		b.WriteString("/>")
		return b.String(), nil
	}
	b.WriteByte('>')
	writeText(&b, validText(a.Detail))
	b.WriteString("</Attempt>")
	return b.String(), nil
}

// validText replaces what XML cannot carry. It is for text that comes from
// programs and must not be lost as a whole: errors and logs.
func validText(s string) string {
	return strings.Map(func(r rune) rune {
		if !isChar(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Cursor is what a handler's heartbeat left for the next attempt; nil if there
// is none.
func (e *Event) Cursor() []byte {
	p, ok := e.payload("Cursor")
	if !ok {
		return nil
	}
	return p.JSON
}
