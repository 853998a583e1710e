package cli

import (
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

func TestLine_Shown(t *testing.T) {
	l := line{depth: 1, before: "01.00 Město ", status: eventstream.Completed, withError: true, after: " (世界)"}
	for _, c := range []struct {
		columns  int
		coloured bool
		want     string
	}{
		{0, false, "  01.00 Město completed with errors (世界)"},
		{0, true, "  01.00 Město \x1b[32mcompleted with errors\x1b[0m (世界)"},
		{42, false, "  01.00 Město completed with errors (世界)"},
		{41, false, "  01.00 Město completed with errors (世…"},
		{36, true, "  01.00 Město \x1b[32mcompleted with errors\x1b[0m…"},
		{20, true, "  01.00 Město \x1b[32mcompl…\x1b[0m"},
		{8, true, "  01.00…"},
	} {
		if got := l.shown(c.columns, c.coloured); got != c.want {
			t.Errorf("shown(%d, %t) = %q, want %q", c.columns, c.coloured, got, c.want)
		}
	}
}
