package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

const (
	// tailSize is how much of stderr goes into the error of an attempt, in bytes.
	tailSize = 1 << 10
	// lineSize is the longest line that is logged as one, in bytes.
	lineSize = 8 << 10
)

// stderr logs what a program writes to stderr line by line, and keeps the end of
// it for the error of a failed attempt.
type stderr struct {
	log  func(line string)
	line []byte
	tail []byte
}

func newStderr(ctx context.Context, logger *slog.Logger, t *processor.Task) *stderr {
	logger = logger.With("stream", t.Stream, "event", t.Event, "step", t.Step, "attempt", t.Attempt)
	return &stderr{log: func(line string) { logger.InfoContext(ctx, "stderr of program", "line", line) }}
}

func (s *stderr) Write(p []byte) (int, error) {
	s.tail = append(s.tail, p[max(0, len(p)-tailSize):]...)
	s.tail = s.tail[max(0, len(s.tail)-tailSize):]
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

// explain adds the end of stderr to the error of an attempt.
func (s *stderr) explain(err error) error {
	tail := bytes.TrimSpace(s.tail)
	if len(tail) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, bytes.ToValidUTF8(tail, []byte("\ufffd")))
}
