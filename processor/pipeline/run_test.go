package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

func nothing(context.Context, any) (any, error) { return nil, nil }

// task is a task of a step with an input.
func task(step, input string) *processor.Task {
	return &processor.Task{Stream: "order-42", Run: "k3v9x2", Event: "01.00", Step: step, Attempt: 2, Worker: "w1", Input: json.RawMessage(input)}
}

// join is a task of a step with the results of branches.
func join(step, input string, results ...processor.Result) *processor.Task {
	t := task(step, input)
	t.SetResults(func(yield func(processor.Result, error) bool) {
		for _, r := range results {
			if !yield(r, nil) {
				return
			}
		}
	})
	return t
}

// single is the text of a pipeline of one step, with more keys in its second
// and further lines.
func single(lines ...string) string {
	return "name: p\nsteps:\n  - name: A\n    " + strings.Join(lines, "\n    ") + "\n"
}

// handle runs the handler of a task's step.
func handle(t *testing.T, source string, task *processor.Task, o *pipeline.Options) (processor.Outcome, error) {
	t.Helper()
	step := parse(t, source, o).Step(task.Step)
	if step == nil {
		t.Fatalf("there is no step %q", task.Step)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return step.Handler(ctx, task)
}

func complete(output string) processor.Outcome {
	return processor.Complete(json.RawMessage(output))
}

// check compares an outcome, or the beginning of an error or of the reason of an
// abort, which is written as "abort: REASON".
func check(t *testing.T, got processor.Outcome, err error, want any) {
	t.Helper()
	if text, ok := want.(string); ok {
		reason, isAbort := strings.CutPrefix(text, "abort: ")
		switch {
		case isAbort && (err != nil || !strings.HasPrefix(reasonOf(got), reason)):
			t.Errorf("handler = %+v, %v, want an abort because of %q", got, err, reason)
		case !isAbort && (err == nil || !strings.HasPrefix(err.Error(), text)):
			t.Errorf("handler = %+v, %v, want error %q", got, err, text)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("handler = %s, %v, want %s", show(got), err, show(want))
	}
}

// reasonOf is the reason of an abort.
func reasonOf(o processor.Outcome) string {
	return reflect.ValueOf(o).FieldByName("reason").String()
}

func show(outcome any) string { return fmt.Sprintf("%q", fmt.Sprintf("%+s", outcome)) }

func failing(err error) iter.Seq2[processor.Result, error] {
	return func(yield func(processor.Result, error) bool) { yield(processor.Result{}, err) }
}
