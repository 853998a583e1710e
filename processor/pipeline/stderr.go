package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

const (
	// tailSize is how much of stderr goes into the error of an attempt, in bytes.
	tailSize = 1 << 10
	// tailKept is how much is kept for that, so that a secret at the cut is seen as
	// a whole, and wholeKept how much where stderr is kept in the store.
	tailKept  = 2 * tailSize
	wholeKept = 4 << 20
	// lineSize is the longest line that is logged as one, in bytes.
	lineSize = 8 << 10
)

// stderr logs what a program writes to stderr line by line, and keeps the end of
// it for a failed attempt.
type stderr struct {
	log    func(line string)
	line   []byte
	kept   *processor.Tail
	whole  bool // what is kept goes into the store
	redact func(string) string
}

func newStderr(ctx context.Context, o *Options, t *processor.Task) *stderr {
	logger := t.Logger(o.Logger)
	size := tailKept
	if o.KeepStderr {
		size = wholeKept
	}
	return &stderr{
		log:    func(line string) { logger.InfoContext(ctx, "stderr of program", "line", line) },
		kept:   processor.NewTail(size),
		whole:  o.KeepStderr,
		redact: o.Redact,
	}
}

func (s *stderr) Write(p []byte) (int, error) {
	s.kept.Write(p) // it never fails
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		n := min(len(line), lineSize-len(s.line))
		s.line = append(s.line, line[:n]...)
		switch {
		case n < len(line):
			rest = rest[n:]
			s.flush()
		case ended:
			rest = after
			s.flush()
		default:
			rest = nil
		}
	}
	return len(p), nil
}

// flush logs the line that has been begun.
func (s *stderr) flush() {
	if line := bytes.TrimRight(s.line, "\r"); len(line) > 0 {
		s.log(strings.ToValidUTF8(string(line), "\ufffd"))
	}
	s.line = s.line[:0]
}

// explain adds the end of stderr to the error of an attempt and, where it is kept,
// all of it.
func (s *stderr) explain(err error) error {
	kept := s.kept.Bytes()
	if s.whole {
		kept = s.kept.Lines()
	}
	text := s.redact(strings.ToValidUTF8(string(kept), "\ufffd"))
	if tail := strings.TrimSpace(text[max(0, len(text)-tailSize):]); tail != "" {
		err = fmt.Errorf("%w: %s", err, strings.ToValidUTF8(tail, "\ufffd"))
	}
	if !s.whole || text == "" {
		return err
	}
	if dropped := s.kept.Written() - int64(len(kept)); dropped > 0 {
		text = fmt.Sprintf("[%d bytes before this were not kept]\n%s", dropped, text)
	}
	return &processor.LoggedError{Log: []byte(text), Err: err}
}
