package processor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// final fails so that it is not tried again.
func final(context.Context, *processor.Task) (processor.Outcome, error) {
	logged := &processor.LoggedError{Log: []byte("all of it"), Err: errors.New("exit status 1")}
	return processor.Outcome{}, fmt.Errorf("step: %w", &processor.FinalError{Err: logged})
}

func TestFinalError_IsTheLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Handler: final})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Aborted, false, "")
		root := p.stream("r").Root()
		if got := root.Attr("msg"); got != "step: exit status 1" || root.Attempt() != 1 || root.Failures() != 1 {
			t.Errorf("event after attempt %d with %d failures has msg %q, want the first attempt, its failure and error", root.Attempt(), root.Failures(), got)
		}
		attempts := root.Attempts()
		if len(attempts) != 1 || attempts[0].Bytes != int64(len("all of it")) {
			t.Errorf("Attempts() = %+v, want one with its log", attempts)
		}
	})
}

func TestFinalError_GoesToTheStepForFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "A", Handler: final, OnFailure: "B"},
			processor.Step{Name: "B", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				return processor.Complete(task.Input), nil
			}},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 1), eventstream.Completed, false, `{"error":"step: exit status 1","input":1}`)
	})
}
