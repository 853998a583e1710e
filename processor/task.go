package processor

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Handler does the work of a step. It may be called more than once for the same
// task — after a crash, a timeout, an error — but its outcome is taken once.
//
// ctx ends when the outcome could no longer be taken: the worker lost its lease,
// the step's timeout passed, the event was canceled, the worker shuts down. An
// error is a failed attempt, retried as the step says; [Abort] and a [FinalError]
// are final.
type Handler func(ctx context.Context, t *Task) (Outcome, error)

// Task is what a handler gets.
type Task struct {
	Stream  string // name of the stream
	Run     string // id of the run
	Event   string // id of the event
	Step    string
	Attempt int    // from 1
	Worker  string // id of the worker that handles it
	// Input is the message; nil if there is none. An aggregator gets the input of
	// its split.
	Input json.RawMessage
	// Join reports whether the task is an aggregator's, with Results to read.
	Join bool
	// Cursor is what the last Heartbeat of an earlier attempt left; nil if none did.
	Cursor json.RawMessage

	results   func(yield func(Result, error) bool)
	heartbeat func(ctx context.Context, cursor any) error
}

// Heartbeat keeps a cursor, encoded as JSON, in the stream: how far the work is,
// so that the next attempt goes on from there if this one dies. It is one edit, so
// not for every item. An error that matches eventstream.ErrNotOwner says that the
// event is no longer this attempt's, and the work is in vain.
func (t *Task) Heartbeat(ctx context.Context, cursor any) error {
	if t.heartbeat == nil {
		return nil
	}
	return t.heartbeat(ctx, cursor)
}

// Key identifies the work, not the attempt: the same for every attempt of an
// event, different for every other event of any run. It is what an outside system
// needs to do something once.
func (t *Task) Key() string { return t.Run + "/" + t.Event }

// Decode reads the input into v.
func (t *Task) Decode(v any) error {
	if err := json.Unmarshal(t.Input, v); err != nil {
		return fmt.Errorf("input of event %s: %w", t.Event, err)
	}
	return nil
}

// Result is what became of one branch of a split.
type Result struct {
	ID     string          `json:"id"`     // last event of the branch
	Status string          `json:"status"` // completed, aborted or canceled
	Output json.RawMessage `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"` // why a branch failed
}

// OK reports whether the branch ended well.
func (r Result) OK() bool { return r.Error == "" && r.Status == "completed" }

// Results yields what became of the branches of an aggregator's split, in branch
// order. Outputs that lie in blobs of their own are read one at a time.
func (t *Task) Results() iter.Seq2[Result, error] {
	if t.results == nil {
		return func(func(Result, error) bool) {}
	}
	return t.results
}

// Func makes a handler of a function from input to output, both JSON.
func Func[In, Out any](f func(context.Context, In) (Out, error)) Handler {
	return func(ctx context.Context, t *Task) (Outcome, error) {
		var in In
		if len(t.Input) > 0 {
			if err := t.Decode(&in); err != nil {
				return Abort(err.Error()), nil
			}
		}
		out, err := f(ctx, in)
		if err != nil {
			return Outcome{}, err
		}
		return Complete(out), nil
	}
}

// Aggregate makes a handler of a function over the outputs of a split's
// branches, each read as JSON. A branch that failed is yielded as an error that
// is a *BranchError.
func Aggregate[Out, Total any](f func(context.Context, iter.Seq2[Out, error]) (Total, error)) Handler {
	return func(ctx context.Context, t *Task) (Outcome, error) {
		total, err := f(ctx, outputs[Out](t))
		if err != nil {
			return Outcome{}, err
		}
		return Complete(total), nil
	}
}

func outputs[Out any](t *Task) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		for r, err := range t.Results() {
			var out Out
			switch {
			case err != nil:
			case !r.OK():
				err = &BranchError{r}
			case len(r.Output) > 0:
				err = json.Unmarshal(r.Output, &out)
			}
			if !yield(out, err) {
				return
			}
		}
	}
}

// BranchError is a branch that failed, as an aggregator sees it.
type BranchError struct{ Result Result }

// Error has the event, its status and the reason.
func (e *BranchError) Error() string {
	return fmt.Sprintf("branch ended in event %s, %s: %s", e.Result.ID, e.Result.Status, e.Result.Error)
}

// Decode reads the output into v.
func (r Result) Decode(v any) error {
	if err := json.Unmarshal(r.Output, v); err != nil {
		return fmt.Errorf("output of event %s: %w", r.ID, err)
	}
	return nil
}
