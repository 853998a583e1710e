package processortest

import (
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// Outline writes a stream for people and for tests: a line for each event in the
// order of the document, with its id, its step and its status; then attempt=N if it
// was claimed more than once, msg="…" if it says why it ended, and the JSON of its
// output, or blob if that lies in one of its own. What a retry has superseded is
// left out.
func Outline(s *eventstream.Stream) string {
	var lines []string
	for e := range s.Events() {
		if !e.Superseded() {
			lines = append(lines, outlineOf(e))
		}
	}
	return strings.Join(lines, "\n")
}

func outlineOf(e *eventstream.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", e.ID(), e.Topic(), e.Status())
	if n := e.Attempt(); n > 1 {
		fmt.Fprintf(&b, " attempt=%d", n)
	}
	if msg := e.Msg(); msg != "" {
		fmt.Fprintf(&b, " msg=%q", msg)
	}
	if output, ok := e.Output(); ok && output.Ref != "" {
		b.WriteString(" blob")
	} else if ok {
		fmt.Fprintf(&b, " %s", output.JSON)
	}
	return b.String()
}
