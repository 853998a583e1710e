package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/leasestream/leasestream/processor"
)

// work is what a step does with its message.
type work func(ctx context.Context, m *message) (json.RawMessage, error)

// ending makes the outcome of a step of its output.
type ending func(output json.RawMessage) (processor.Outcome, error)

// build makes the steps of a file that has no problems.
func (f *file) build(settings *Options) []processor.Step {
	steps := make([]processor.Step, len(f.steps))
	for i, s := range f.steps {
		steps[i] = processor.Step{
			Name:           s.name.text,
			Handler:        f.handler(s, settings),
			Timeout:        s.timeout,
			Retry:          s.retry,
			Concurrency:    s.concurrency.worker,
			RunConcurrency: s.concurrency.run,
			OnFailure:      s.onFailure.text,
		}
	}
	return steps
}

func (f *file) handler(s *step, settings *Options) processor.Handler {
	switch {
	case s.exec != nil:
		c := &command{arguments: s.exec, read: outputs[s.form()], settings: settings}
		return s.handle(c.run, f.ending(s))
	case s.http != nil:
		c := &call{
			url:      s.http.url,
			headers:  s.http.headers,
			timeout:  cmp.Or(s.http.timeout, s.timeout, answerTime),
			pipeline: f.name.text,
			read:     outputs[s.form()],
			settings: settings,
		}
		return s.handle(c.run, f.ending(s))
	case s.items != nil:
		return f.itemsHandler(s, settings)
	case s.jq != nil:
		return s.handle(s.jq.run, f.ending(s))
	}
	return func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Wait(s.wait), nil
	}
}

// form is how the output of a program or the answer of a server is read.
func (s *step) form() string {
	if s.output.text == "" {
		return "json"
	}
	return s.output.text
}

// handle is the handler of a step that works by itself.
func (s *step) handle(work work, end ending) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		outcome, err := s.attempt(ctx, t, work, end)
		if _, ok := errors.AsType[hopeless](err); ok {
			return processor.Abort(err.Error()), nil
		}
		return outcome, err
	}
}

func (s *step) attempt(ctx context.Context, t *processor.Task, work work, end ending) (processor.Outcome, error) {
	m := &message{task: t, which: s.results.text, ndjson: s.stdin.text == "ndjson"}
	if err := s.shape(ctx, m); err != nil {
		return processor.Outcome{}, err
	}
	output, err := work(ctx, m)
	if err != nil {
		return processor.Outcome{}, err
	}
	return end(output)
}

// shape lets the input expression of the step, if it has one, make its message.
func (s *step) shape(ctx context.Context, m *message) (err error) {
	if s.input != nil {
		m.shaped, err = s.input.run(ctx, m)
	}
	return err
}

// ending is what comes after a step, as the file says it.
func (f *file) ending(s *step) ending {
	switch {
	case s.output.text == "outcome":
		return f.decide
	case s.next.text != "":
		return func(output json.RawMessage) (processor.Outcome, error) {
			return processor.Next(s.next.text, output).Delay(f.step(s.next.text).delay), nil
		}
	case s.split != nil:
		return func(output json.RawMessage) (processor.Outcome, error) { return f.divide(s.split, output) }
	}
	return func(output json.RawMessage) (processor.Outcome, error) { return processor.Complete(output), nil }
}

func (f *file) divide(s *split, output json.RawMessage) (processor.Outcome, error) {
	messages, err := elements(output, s.batch)
	if err != nil {
		return processor.Outcome{}, err
	}
	delay := f.step(s.to.text).delay
	branches := make([]processor.Branch, len(messages))
	for i, m := range messages {
		branches[i] = processor.Branch{Step: s.to.text, Message: m, Delay: delay}
	}
	return processor.SplitTo(branches...).Join(s.join.text).Policy(s.policy).Timeout(s.timeout), nil
}
