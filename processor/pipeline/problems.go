package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

// Problem is one thing that is wrong with a pipeline file.
type Problem struct {
	File string
	// Line and Column count from 1; columns in characters.
	Line, Column int
	Text         string
}

// Error is FILE:LINE:COLUMN: TEXT.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are all that is wrong with a pipeline file, in order of place. They
// match [processor.ErrPipeline].
type Problems []Problem

// Error has a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Is reports whether target is [processor.ErrPipeline].
func (p Problems) Is(target error) bool { return target == processor.ErrPipeline }

// place is where something stands in the file; the zero place is nowhere.
type place struct{ line, column int }

// report collects the problems of one file.
type report struct {
	file     string
	problems Problems
}

func (r *report) add(at place, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File:   r.file,
		Line:   max(1, at.line),
		Column: max(1, at.column),
		Text:   fmt.Sprintf(format, args...),
	})
}

func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.problems
}

// where is a place as an operator reads it, in errors at run time.
func (r *report) where(at place) string {
	return fmt.Sprintf("%s:%d:%d", r.file, at.line, at.column)
}
