// Package config reads the configuration file of the command: YAML with a key for
// each setting, and a section of that form for each command.
//
//	store: https://ACCOUNT.blob.core.windows.net/CONTAINER
//	work:
//	  workers: 8
//	  log-level: debug
//	lease:
//	  acquire: {duration: 60s}
//
// Nothing in it is expanded or executed. What is not known is refused.
package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Schema is what a section may hold.
type Schema struct {
	Keys     []string
	Sections map[string]*Schema // :: name → section
}

// Setting is what the file says about one key.
type Setting struct {
	Section []string // names of the sections around it; none at the top
	Key     string
	Values  []string // as they are written; more than one for a list
	Place   string   // FILE:LINE:COLUMN
}

// Problem is one thing that is wrong with a file. Lines and columns count from 1.
type Problem struct {
	File         string
	Line, Column int
	Text         string
}

// Error is FILE:LINE:COLUMN: TEXT.
func (p Problem) Error() string { return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text) }

// Problems are all that is wrong with a file, in order of place.
type Problems []Problem

// Error has a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Parse reads the text of a file, whose name is for places. All that is wrong with
// it is returned as [Problems]. An empty file has no settings.
func Parse(file string, source []byte, schema *Schema) ([]Setting, error) {
	r := &reader{file: file}
	if root := r.parse(source); root != nil {
		r.section(root, nil, schema)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.problems
	}
	return r.settings, nil
}
