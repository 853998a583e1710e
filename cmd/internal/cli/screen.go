package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// screen is the lower part of a terminal, drawn over and over in place.
type screen struct {
	w     io.Writer
	size  func() (columns, rows int)
	drawn int // lines that are there now
}

// newScreen is a screen on a terminal; nil if w is none, or one on which nothing
// can be drawn in place.
func (a *app) newScreen(w io.Writer) *screen {
	if !drawable(w) || a.getenv("TERM") == "dumb" {
		return nil
	}
	fd := int(w.(*os.File).Fd())
	return &screen{w: w, size: func() (int, int) {
		columns, rows, err := term.GetSize(fd)
		if err != nil || columns <= 0 || rows <= 0 {
			return 80, 24
		}
		return columns, rows
	}}
}

// Control sequences of terminals.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearLine  = "\x1b[K" // from the cursor on
	clearBelow = "\x1b[J"
)

// draw puts lines in the place of those drawn last. A line or a column is left
// free, or the terminal would scroll and the place be lost. It is one write, so
// that nothing half is seen.
func (s *screen) draw(lines []line, coloured bool) error {
	columns, rows := s.size()
	var b bytes.Buffer
	b.WriteString(hideCursor)
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dF", s.drawn)
	}
	s.drawn = 0
	put := func(text string) {
		b.WriteString(text + clearLine + "\n")
		s.drawn++
	}
	for i, l := range lines {
		if room := rows - 1 - s.drawn; room <= 1 && i < len(lines)-1 {
			cut := cutter{left: columns - 1}
			put(cut.next(fmt.Sprintf("… %d lines more", len(lines)-i)))
			break
		}
		put(l.shown(columns-1, coloured))
	}
	b.WriteString(clearBelow)
	_, err := s.w.Write(b.Bytes())
	return err
}

// close leaves the terminal as others expect it, below what was drawn last, and
// without the ^C that the terminal shows of an interrupt.
func (s *screen) close() error {
	_, err := io.WriteString(s.w, "\r"+clearLine+showCursor)
	return err
}
