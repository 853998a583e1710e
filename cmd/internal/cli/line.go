package cli

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/leasestream/leasestream/eventstream"
)

// line is what is shown of a run or an event, or of several that are alike.
type line struct {
	depth     int
	before    string // the status
	status    eventstream.Status
	withError bool
	after     string
}

// shown is the line for a terminal of so many columns, in which it does not wrap;
// 0: as long as it is.
func (l line) shown(columns int, coloured bool) string {
	status := l.status.String()
	if l.withError {
		status += " with errors"
	}
	cut := cutter{left: columns, unbounded: columns == 0}
	before := cut.next(strings.Repeat("  ", l.depth) + l.before)
	status = cut.next(status)
	if code := statusColours[l.status]; coloured && code != "" && status != "" {
		status = "\x1b[" + code + "m" + status + "\x1b[0m"
	}
	return before + status + cut.next(l.after)
}

// cutter cuts texts that stand one behind the other to the columns that are left.
type cutter struct {
	left      int
	unbounded bool
}

func (c *cutter) next(text string) string {
	if c.unbounded {
		return text
	}
	width := runewidth.StringWidth(text)
	switch {
	case c.left == 0:
		return ""
	case width > c.left:
		text, width = runewidth.Truncate(text, c.left, "…"), c.left
	}
	c.left -= width
	return text
}

// statusColours are the ANSI codes that statuses are shown in.
var statusColours = map[eventstream.Status]string{
	eventstream.Inprocess: "36",
	eventstream.Completed: "32",
	eventstream.Aborted:   "31",
	eventstream.Canceled:  "33",
}
