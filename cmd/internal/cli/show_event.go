package cli

import (
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// shownPayload is how much of a payload is shown, in bytes.
const shownPayload = 1 << 10

// showEvent writes one event with what it contains.
func (t *tree) showEvent(d *processor.Document, e *eventstream.Event) error {
	t.put(eventLine(d.Address(e.ID()), e, 0))
	t.payload("input", e.Input)
	t.payload("output", e.Output)
	if cursor := e.Cursor(); cursor != nil {
		t.detail("cursor", shortened(cursor))
	}
	for _, attempt := range e.Attempts() {
		t.detail(fmt.Sprintf("attempt %d failed", attempt.N), printable(attempt.Error))
		if attempt.Detail != "" {
			t.detail("  detail", printable(attempt.Detail))
		}
		if log, ok := attempt.Log(); ok {
			t.detail("  log", shownRef(log))
		}
	}
	return t.w.Flush()
}

func (t *tree) detail(name, text string) { fmt.Fprintf(t.w, "  %s: %s\n", name, text) }

func (t *tree) payload(name string, get func() (eventstream.Payload, bool)) {
	p, ok := get()
	switch {
	case !ok:
	case p.Ref != "":
		t.detail(name, shownRef(p))
	default:
		t.detail(name, shortened(p.JSON))
	}
}

// shownRef says where a payload lies.
func shownRef(p eventstream.Payload) string {
	return printable(fmt.Sprintf("%d bytes in a blob, leasestream blob get %s", p.Bytes, p.Ref))
}

func shortened(text []byte) string {
	if len(text) <= shownPayload {
		return printable(string(text))
	}
	return printable(strings.ToValidUTF8(string(text[:shownPayload]), "")) + "…"
}
