package pipeline

import (
	"slices"
	"strings"
)

// Description is what a pipeline file says about how its steps hang together, for
// those who draw it.
type Description struct {
	Name  string
	Steps []StepDescription // the first one begins each run
}

// StepDescription is a step of a Description. Steps are named as in the file.
type StepDescription struct {
	Name string
	Kind string // exec, http, jq or wait
	Text string // the command or the URL as it stands in the file; "" for others
	Next string // the step that it hands on to; "" if it does not

	SplitTo   string // the step of its branches; "" if it does not split
	Join      string // the aggregator of the split; may be ""
	Policy    string // of the split
	OnFailure string // the step that it hands on to when its retries are spent
	// Dynamic: what comes next is what the step says at run time.
	Dynamic bool
}

// Describe reads a pipeline file as Parse does, with the same errors, and tells
// what is in it. Nothing of it is made ready to run.
func Describe(source []byte) (*Description, error) {
	settings, err := (*Options)(nil).resolve()
	if err != nil {
		return nil, err
	}
	r := &reader{report: report{file: settings.Name}}
	f := r.file(source)
	if err := r.err(); err != nil {
		return nil, err
	}
	d := &Description{Name: f.name.text}
	for _, s := range f.steps {
		d.Steps = append(d.Steps, s.describe())
	}
	return d, nil
}

func (s *step) describe() StepDescription {
	d := StepDescription{
		Name: s.name.text, Text: s.says(), Next: s.next.text, OnFailure: s.onFailure.text,
		Dynamic: s.output.text == "outcome",
	}
	if i := slices.IndexFunc(kinds, func(kind string) bool { _, is := s.keys[kind]; return is }); i >= 0 {
		d.Kind = kinds[i]
	}
	if s.split != nil {
		d.SplitTo, d.Join, d.Policy = s.split.to.text, s.split.join.text, s.split.policy.String()
	}
	return d
}

// says is the command of a step, or its URL.
func (s *step) says() string {
	if s.http != nil {
		return s.http.url.text
	}
	words := make([]string, len(s.exec))
	for i, a := range s.exec {
		words[i] = a.text
	}
	return strings.Join(words, " ")
}
