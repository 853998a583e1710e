package processor

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrPipeline is matched when a pipeline is not valid.
var ErrPipeline = errors.New("invalid pipeline")

// Pipeline is a set of named steps. The first one is the root of each run; which
// comes next is what each handler says at run time. It does not change once it is
// made.
type Pipeline struct {
	name       string
	definition string
	steps      []Step
	source     []byte
}

// Step is one processor of a pipeline.
type Step struct {
	Name    string
	Handler Handler
	// Timeout is how long one attempt may take; 0: as long as it likes.
	Timeout time.Duration
	// Retry is how often a failed attempt is repeated.
	Retry Retry
	// Delay is how long an event of the step waits after it was created.
	Delay time.Duration
	// Concurrency is how many of the step one worker runs at a time; 0: as many
	// as it has slots.
	Concurrency int
	// RunConcurrency is how many of the step all workers together run at a time in
	// one run; 0: as many as there are. [Processor.SetLimit] changes it for a run.
	RunConcurrency int
	// OnFailure is the step that an event hands on to, with its input and error,
	// when its retries are spent or its handler aborts; "" aborts the branch.
	OnFailure string
}

// Retry says how often and after what waits a step is tried. A worker's death
// and a timeout count like an error.
type Retry struct {
	Attempts int           // in all; 0 means 3, 1 never repeats
	Backoff  time.Duration // before the second attempt, doubled for each further one; 0 means 500 ms
	Max      time.Duration // the longest wait; 0 means 30 s
}

// Definition is what identifies a version of a pipeline, for NewPipeline.
type Definition struct {
	// Source is the text that defines the pipeline. Its hash goes into every run,
	// and only workers with the same one touch the run.
	Source []byte
}

var stepName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// NewPipeline makes a pipeline of steps. Without a definition, the names of the
// pipeline and of its steps stand for one.
func NewPipeline(name string, d *Definition, steps ...Step) (*Pipeline, error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPipeline, err)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%w %q: it has no steps", ErrPipeline, name)
	}
	p := &Pipeline{name: name, steps: slices.Clone(steps)}
	for i, step := range p.steps {
		if err := p.check(step, i); err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrPipeline, name, err)
		}
	}
	p.source = p.describe()
	if d != nil {
		p.source = slices.Clone(d.Source)
	}
	p.definition = definitionOf(p.source)
	return p, nil
}

func (p *Pipeline) check(step Step, i int) error {
	switch {
	case !stepName.MatchString(step.Name):
		return fmt.Errorf("step name %q: want letters, digits, . _ - beginning with a letter or digit", step.Name)
	case slices.ContainsFunc(p.steps[:i], func(s Step) bool { return s.Name == step.Name }):
		return fmt.Errorf("step %q is given twice", step.Name)
	case step.Handler == nil:
		return fmt.Errorf("step %q has no handler", step.Name)
	case step.Timeout < 0 || step.Delay < 0 || step.Concurrency < 0 || step.RunConcurrency < 0 || step.Retry.Attempts < 0 || step.Retry.Backoff < 0 || step.Retry.Max < 0:
		return fmt.Errorf("step %q has a negative setting", step.Name)
	case step.OnFailure != "" && p.Step(step.OnFailure) == nil:
		return fmt.Errorf("step %q: on_failure names %q, which does not exist", step.Name, step.OnFailure)
	case step.OnFailure == step.Name:
		return fmt.Errorf("step %q: on_failure names the step itself", step.Name)
	}
	return nil
}

// describe stands for a source where there is none.
func (p *Pipeline) describe() []byte {
	names := make([]string, len(p.steps))
	for i, s := range p.steps {
		names[i] = s.Name
	}
	return []byte(p.name + "\n" + strings.Join(names, "\n"))
}

// Name is the pipeline's name.
func (p *Pipeline) Name() string { return p.name }

// Definition identifies the pipeline's version: sha256: and the hash of its
// source.
func (p *Pipeline) Definition() string { return p.definition }

// Source is the text that defines the pipeline.
func (p *Pipeline) Source() []byte { return slices.Clone(p.source) }

// Steps are the steps, the root first.
func (p *Pipeline) Steps() []Step { return slices.Clone(p.steps) }

// Step returns the step of a name, or nil.
func (p *Pipeline) Step(name string) *Step {
	for i := range p.steps {
		if p.steps[i].Name == name {
			return &p.steps[i]
		}
	}
	return nil
}

// attempts is how often a step is tried in all.
func (r Retry) attempts() int {
	if r.Attempts == 0 {
		return 3
	}
	return r.Attempts
}

// wait is the time before the attempt after the given number of failures, without
// jitter.
func (r Retry) wait(failures int) time.Duration {
	backoff, longest := r.Backoff, r.Max
	if backoff == 0 {
		backoff = 500 * time.Millisecond
	}
	if longest == 0 {
		longest = 30 * time.Second
	}
	for range failures - 1 {
		if backoff >= longest {
			break
		}
		backoff *= 2
	}
	return min(backoff, longest)
}
