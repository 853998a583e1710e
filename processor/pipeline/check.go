package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/internal/nearest"
)

// misplaced are the keys that do not go with a kind of step.
var misplaced = map[string][]string{
	"http":  {"stdin"},
	"jq":    {"stdin"},
	"items": {"stdin", "output", "next"},
	"wait":  {"input", "results", "stdin", "output", "next", "split", "timeout", "concurrency"},
}

// checkKind reports a step that does not do exactly one thing. An unknown key
// has been reported and was probably meant to be it.
func (s *step) checkKind(fields []field) {
	given := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return !s.has(kind) })
	switch {
	case len(given) == 0 && !s.keys.unknown(fields):
		s.r.add(s.at, "the step does nothing: give it one of %s", strings.Join(kinds, ", "))
	case len(given) > 1:
		s.r.add(s.keys[given[1]], "the step has %s: want one of %s", strings.Join(given, " and "), strings.Join(kinds, ", "))
	}
}

// checkKeys reports keys that do not go together.
func (s *step) checkKeys() {
	for _, kind := range kinds {
		for _, key := range misplaced[kind] {
			s.exclude(key, kind)
		}
	}
	s.exclude("split", "next")
	if s.output.text == "outcome" {
		s.exclude("next", "output: outcome")
		s.exclude("split", "output: outcome")
	}
	if s.has("jq") && s.has("output") && s.output.text != "json" && s.output.text != "outcome" {
		s.r.add(s.keys["output"], "output of jq is json or outcome")
	}
	if s.stdin.text == "ndjson" {
		s.exclude("input", "stdin: ndjson")
	}
	if s.items != nil && !s.has("split") && !s.has("next") {
		s.r.add(s.keys["items"], "items needs split: each item is the message of a branch")
	}
	if s.http != nil && s.timeout > 0 && s.http.timeout > s.timeout {
		s.r.add(s.http.timeoutAt, "timeout of the request, %s, is longer than that of the step, %s", s.http.timeout, s.timeout)
	}
}

// exclude reports a key that a step has along with another, which is written as
// KEY or KEY: VALUE.
func (s *step) exclude(key, other string) {
	name, _, _ := strings.Cut(other, ":")
	if s.has(key) && s.has(name) {
		s.r.add(s.keys[key], "%q does not go with %q", key, other)
	}
}

func (s *step) has(key string) bool {
	_, ok := s.keys[key]
	return ok
}

// check reports what is wrong between steps.
func (f *file) check(r *reader) {
	first := map[string]*step{}
	for _, s := range f.steps {
		if twin := first[s.name.text]; twin != nil && s.name.text != "" {
			r.add(s.name.at, "step %q is given twice, the first time in line %d", s.name.text, twin.name.at.line)
			continue
		}
		first[s.name.text] = s
	}
	for _, s := range f.steps {
		f.checkReferences(s)
	}
	// Without all references these would blame the wrong steps; with outcomes,
	// any step may follow on any.
	if len(r.problems) == 0 && !f.decides() {
		f.checkUse(r)
	}
}

func (f *file) checkReferences(s *step) {
	for _, w := range s.successors() {
		if f.step(w.text) == nil {
			s.r.add(w.at, "%v", f.missing(w.text))
		}
	}
	if s.onFailure.text != "" && s.onFailure.text == s.name.text {
		s.r.add(s.onFailure.at, "on_failure names the step itself; use retry")
	}
}

// missing says that there is no step of a name, and which may be meant.
func (f *file) missing(name string) error {
	if near := nearest.Of(name, f.names()); near != "" {
		return fmt.Errorf("step %q does not exist; did you mean %q?", name, near)
	}
	return fmt.Errorf("step %q does not exist", name)
}

func (f *file) names() []string {
	names := make([]string, len(f.steps))
	for i, s := range f.steps {
		names[i] = s.name.text
	}
	return names
}

// successors are the steps that a step names.
func (s *step) successors() []word {
	all := append(s.handsTo(), s.onFailure)
	if s.split != nil {
		all = append(all, s.split.join)
	}
	return slices.DeleteFunc(all, func(w word) bool { return w.at == (place{}) })
}

// handsTo are the steps that get a step's output as their message.
func (s *step) handsTo() []word {
	to := []word{s.next}
	if s.split != nil {
		to = append(to, s.split.to)
	}
	return to
}

// decides reports whether a step says at run time what comes next.
func (f *file) decides() bool {
	return slices.ContainsFunc(f.steps, func(s *step) bool { return s.output.text == "outcome" })
}

// checkUse reports steps that nothing leads to, and keys that have no effect
// where the step is used.
func (f *file) checkUse(r *reader) {
	reached, handedTo, joins := f.use()
	for _, s := range f.steps {
		name := s.name.text
		if !reached[name] {
			r.add(s.name.at, "step %q is never reached: neither the first step nor any after it leads to it", name)
			continue
		}
		if s.has("delay") && !handedTo[name] {
			r.add(s.keys["delay"], "delay has no effect: no next or split leads to step %q", name)
		}
		for _, key := range []string{"results", "stdin"} {
			if s.has(key) && !joins[name] {
				r.add(s.keys[key], "%s has no effect: step %q is not the join of a split", key, name)
			}
		}
	}
}

// use follows the file from its first step.
func (f *file) use() (reached, handedTo, joins map[string]bool) {
	reached, handedTo, joins = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if len(f.steps) == 0 {
		return
	}
	reached[f.steps[0].name.text] = true
	for open := f.steps[:1:1]; len(open) > 0; {
		s := open[0]
		open = open[1:]
		for _, w := range s.handsTo() {
			handedTo[w.text] = true
		}
		if s.split != nil {
			joins[s.split.join.text] = true
		}
		for _, w := range s.successors() {
			if !reached[w.text] {
				reached[w.text] = true
				open = append(open, f.step(w.text))
			}
		}
	}
	return
}
