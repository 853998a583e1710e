package processor_test

import (
	"context"
	"encoding/json"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// widePlots are plots in which two branches are the most that one document takes:
// the three of most splits are 01.00/01.00, 01.00/02.00 and 02.00/01.00.
var widePlots = []plot{
	{name: "wide split", wide: 2, steps: threeWays(square, all, 0), want: "completed false 14"},
	{name: "wide parts of one", wide: 1, steps: threeWays(square, all, 0), want: "completed false 14"},
	{name: "wide nested", wide: 1, steps: nestedSteps(), want: "completed false 28"},
	{name: "wide messages one by one", wide: 2, steps: streamedSteps(), want: "completed false 14"},
	{name: "wide chain", wide: 2, steps: chainSteps(), want: "completed false 27006"},
	{name: "wide aggregator that splits", wide: 1, steps: twiceSteps(), want: "completed false 500"},
	{name: "wide aborted branch", wide: 2, steps: threeWays(failsAt(second), all, 0), want: "completed true 10"},
	{name: "wide failfast", wide: 2, steps: threeWays(failsAt(second), eventstream.FailFast, 0), want: "aborted false "},
	{name: "wide first", wide: 2, steps: threeWays(waitsAt(second), eventstream.First(2), 0), want: "completed true 10"},
	{name: "wide first impossible", wide: 2, steps: threeWays(failsAt(second), eventstream.First(3), 0), want: "aborted false "},
	{name: "wide not tolerated", wide: 2, steps: threeWays(failsAt(second), eventstream.Tolerate(0), 0), want: "aborted false "},
	{name: "wide split timeout", wide: 2, steps: threeWays(waitsAt(second), all, 5*time.Minute), want: "completed true 10"},
	{name: "wide completed from outside", wide: 2, steps: threeWays(waitsAt(second), all, 0), then: answerSecond, want: "completed false 110"},
	{name: "wide canceled branch", wide: 2, steps: threeWays(waitsAt(second), all, 0), then: cancelSecond, want: "completed true 10"},
	{name: "wide canceled batch", wide: 1, steps: threeWays(waitsAt("02.00/01.00"), all, 0), then: cancelBatch, want: "completed true 10"},
	{name: "wide aborted run", wide: 2, steps: threeWays(waitsAt(second), all, 0), then: abortWhole, want: "aborted false "},
	{name: "wide retried branch", wide: 2, steps: threeWays(onceMoreAt(second), all, 0), then: retrySecond, want: "completed false 59"},
	{name: "wide paused", wide: 2, steps: threeWays(square, all, 0), then: pauseAWhile, want: "completed false 14"},
}

// second is the second of three branches.
const second = "01.00/02.00"

// allPlots are those of both kinds.
func allPlots() []plot { return append(append([]plot(nil), plots...), widePlots...) }

// streamedSteps have a splitter whose messages are read one by one.
func streamedSteps() []processor.Step {
	steps := threeWays(square, all, 0)
	steps[0] = patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.SplitSeq("Square", messages(3, nil)).Join("Sum"), nil
	})
	return steps
}

// untilAt looks until an event is there, wherever in the run it is, and as wanted.
func untilAt(ctx context.Context, p *process, at string, is func(*eventstream.Event) bool) error {
	for {
		_, e, err := p.Event(ctx, "r", at)
		if err == nil && is(e) {
			return nil
		}
		if errIsCut(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func waitsOrEnded(e *eventstream.Event) bool { return e.Waiting() || e.Status().Final() }

func answerSecond(ctx context.Context, p *process) error {
	if err := untilAt(ctx, p, second, waitsOrEnded); err != nil {
		return err
	}
	return done(p.Complete(ctx, "r", second, json.RawMessage("100"), "ann"))
}

func cancelSecond(ctx context.Context, p *process) error {
	if err := untilAt(ctx, p, second, waitsOrEnded); err != nil {
		return err
	}
	return done(p.Cancel(ctx, "r", "01.00/02.*", "ann", "enough"))
}

func cancelBatch(ctx context.Context, p *process) error {
	if err := untilAt(ctx, p, "02.00/01.00", waitsOrEnded); err != nil {
		return err
	}
	return done(p.Cancel(ctx, "r", "02.00", "ann", "enough"))
}

func abortWhole(ctx context.Context, p *process) error {
	if err := untilAt(ctx, p, second, waitsOrEnded); err != nil {
		return err
	}
	return done(p.Abort(ctx, "r", "", "ann", "enough"))
}

// onceMoreAt aborts one branch until a retry has given it another message.
func onceMoreAt(event string) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		if t.Event == event && string(t.Input) == "2" {
			return processor.Abort("broken"), nil
		}
		return square(ctx, t)
	}
}

// retrySecond retries the second branch unless that was done before: then its batch
// event tells who did.
func retrySecond(ctx context.Context, p *process) error {
	retried := func(s *eventstream.Stream) bool { return s.Event("01.00") != nil && s.Event("01.00").Reopened() > 0 }
	err := until(ctx, p, func(s *eventstream.Stream) bool { return s.IsDone() || retried(s) })
	if err != nil {
		return err
	}
	snapshot, err := p.Read(ctx, "r")
	if err != nil || retried(snapshot.Stream) {
		return err
	}
	_, err = p.Retry(ctx, "r", &processor.RetryOptions{Below: second, Input: json.RawMessage("7"), By: "ann"})
	return err
}
