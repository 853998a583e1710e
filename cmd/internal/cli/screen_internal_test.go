package cli

import (
	"strings"
	"testing"
)

func linesOf(text string) []line {
	var lines []line
	for before := range strings.FieldsSeq(text) {
		lines = append(lines, line{before: before + " "})
	}
	return lines
}

// Each drawing takes the place of the one before it, and fits.
func TestScreen_Draw(t *testing.T) {
	var w strings.Builder
	rows := 24
	s := &screen{w: &w, size: func() (int, int) { return 8, rows }}
	for _, c := range []struct {
		lines string
		rows  int
		want  string
	}{
		{"a b", 24, "\x1b[?25la init\x1b[K\nb init\x1b[K\n\x1b[J"},
		{"c", 24, "\x1b[?25l\x1b[2Fc init\x1b[K\n\x1b[J"},
		{"a b c", 4, "\x1b[?25l\x1b[1Fa init\x1b[K\nb init\x1b[K\nc init\x1b[K\n\x1b[J"},
		{"a b c d", 4, "\x1b[?25l\x1b[3Fa init\x1b[K\nb init\x1b[K\n… 2 li…\x1b[K\n\x1b[J"},
		{"a b c d", 2, "\x1b[?25l\x1b[3F… 4 li…\x1b[K\n\x1b[J"},
		{"abcdefgh", 24, "\x1b[?25l\x1b[1Fabcdef…\x1b[K\n\x1b[J"},
	} {
		w.Reset()
		rows = c.rows
		if err := s.draw(linesOf(c.lines), false); err != nil {
			t.Fatal(err)
		}
		if w.String() != c.want {
			t.Errorf("draw(%s) on %d rows writes %q, want %q", c.lines, c.rows, w.String(), c.want)
		}
	}
	w.Reset()
	if err := s.close(); err != nil || w.String() != "\r\x1b[K\x1b[?25h" {
		t.Errorf("close() writes %q, %v, want the cursor back", w.String(), err)
	}
}
