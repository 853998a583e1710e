package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leasestream/leasestream/processor"
)

// input is the input of a run: what is to be split.
type input struct {
	N       int `json:"n"`
	Payload int `json:"payload"`
}

// part is the message of one branch.
type part struct {
	N   int    `json:"n"`
	Pad string `json:"pad,omitempty"`
}

// newPart is the message of the branch n, as many bytes long as asked for if it
// fits in them.
func newPart(n, bytes int) json.RawMessage {
	const ends = `{"n":,"pad":""}`
	digits := fmt.Sprint(n)
	pad := bytes - len(ends) - len(digits)
	if pad <= 0 {
		return json.RawMessage(`{"n":` + digits + `}`)
	}
	return json.RawMessage(`{"n":` + digits + `,"pad":"` + strings.Repeat("x", pad) + `"}`)
}

// Sum is the right result of a fan-out into n branches.
func Sum(n int) int64 { return int64(n) * int64(n+1) / 2 }

// trace is what the handlers of one process saw. Times are in nanoseconds of the
// wall clock, which the processes of one machine share.
type trace struct {
	jobs       atomic.Int64
	lastBranch atomic.Int64
	aggregator atomic.Int64
	aggregates chan struct{} // of one; has a value once the aggregator was called
}

func (t *trace) split(_ context.Context, task *processor.Task) (processor.Outcome, error) {
	var o input
	if err := task.Decode(&o); err != nil {
		return processor.Outcome{}, err
	}
	messages := make([]any, o.N)
	for i := range messages {
		messages[i] = newPart(i+1, o.Payload)
	}
	return processor.Split("Work", messages...).Join("Sum"), nil
}

func (t *trace) work(_ context.Context, task *processor.Task) (processor.Outcome, error) {
	var p part
	if err := task.Decode(&p); err != nil {
		return processor.Outcome{}, err
	}
	t.jobs.Add(1)
	t.lastBranch.Store(time.Now().UnixNano())
	return processor.Complete(p.N), nil
}

func (t *trace) sum(_ context.Context, task *processor.Task) (processor.Outcome, error) {
	t.aggregator.Store(time.Now().UnixNano())
	select {
	case t.aggregates <- struct{}{}:
	default:
	}
	total := int64(0)
	for r, err := range task.Results() {
		var n int64
		if err := errors.Join(err, r.Decode(&n)); err != nil {
			return processor.Outcome{}, err
		}
		total += n
	}
	return processor.Complete(total), nil
}

func (t *trace) pipeline() (*processor.Pipeline, error) {
	return processor.NewPipeline("fanout", nil,
		processor.Step{Name: "Split", Handler: t.split},
		processor.Step{Name: "Work", Handler: t.work},
		processor.Step{Name: "Sum", Handler: t.sum},
	)
}

// Pipeline is that of a fan-out, for who runs it by other means than [Process].
// aggregates has a value once the aggregator was called.
func Pipeline() (pl *processor.Pipeline, aggregates <-chan struct{}, err error) {
	t := trace{aggregates: make(chan struct{}, 1)}
	pl, err = t.pipeline()
	return pl, t.aggregates, err
}

// Message is the input of a run of [Pipeline]: branches, and bytes of the message
// of each as far as it can be that short.
func Message(n, payload int) (json.RawMessage, error) { return json.Marshal(input{n, payload}) }
