package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// plot is a run with all that is done to it from outside.
type plot struct {
	name  string
	steps []processor.Step
	// then is what somebody outside does once the run has started. It may be done
	// in part already, by a process that died.
	then func(ctx context.Context, p *process) error
	want string // how the run ends: status, with error or not, output
	// wide is how many branches one document takes; 0: as many as usual.
	wide int
	// exact plots end in the same document whoever did what when; the others in
	// one of several.
	exact bool
}

// play does everything of a plot but the work of its steps, from the start or from
// wherever it stands, and waits for the end.
func (pl plot) play(ctx context.Context, p *process, steps *processor.Pipeline) error {
	_, err := p.Start(ctx, steps, json.RawMessage("3"), &processor.StartOptions{Name: "r"})
	if err != nil {
		return err
	}
	if pl.then != nil {
		if err := pl.then(ctx, p); err != nil {
			return err
		}
	}
	end, err := p.Await(ctx, "r", nil)
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output); got != pl.want {
		return fmt.Errorf("the run ended %s (%s), want %s", got, end.Msg, pl.want)
	}
	return nil
}

// patient is a step that many deaths do not wear out.
func patient(name string, h processor.Handler) processor.Step {
	return processor.Step{Name: name, Handler: h, Retry: processor.Retry{Attempts: 100, Backoff: 100 * time.Millisecond}}
}

// splits is a handler that splits three ways.
func splits(to, join string, policy eventstream.Policy, timeout time.Duration) processor.Handler {
	return func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Split(to, 1, 2, 3).Join(join).Policy(policy).Timeout(timeout), nil
	}
}

// failsAt squares, but aborts in one event.
func failsAt(event string) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		if t.Event == event {
			return processor.Abort("not my taste"), nil
		}
		return square(ctx, t)
	}
}

// waitsAt squares, but leaves one event to someone outside.
func waitsAt(event string) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		if t.Event == event {
			return processor.Wait(0), nil
		}
		return square(ctx, t)
	}
}

var all eventstream.Policy

func threeWays(square processor.Handler, policy eventstream.Policy, timeout time.Duration) []processor.Step {
	return []processor.Step{
		patient("Split", splits("Square", "Sum", policy, timeout)),
		patient("Square", square),
		patient("Sum", processor.Aggregate(sum)),
	}
}

// nestedSteps split in three, and each of those in two, which their own
// aggregator adds up.
func nestedSteps() []processor.Step {
	return []processor.Step{
		patient("Split", splits("Halve", "Sum", all, 0)),
		patient("Halve", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
			return processor.Split("Square", t.Input, t.Input).Join("Pair"), nil
		}),
		patient("Square", square),
		patient("Pair", processor.Aggregate(sum)),
		patient("Sum", processor.Aggregate(sum)),
	}
}

// chainSteps hand on twice in each branch, with a delay, and payloads that do not
// fit into the document.
func chainSteps() []processor.Step {
	return []processor.Step{
		patient("Split", splits("Grow", "Count", all, 0)),
		patient("Grow", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
			return processor.Next("Keep", strings.Repeat(string(t.Input), 9000)).Delay(time.Second), nil
		}),
		patient("Keep", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
			return processor.Complete(t.Input), nil
		}),
		patient("Count", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
			lengths := 0
			for r, err := range t.Results() {
				if err != nil {
					return processor.Outcome{}, err
				}
				lengths += len(r.Output)
			}
			return processor.Complete(lengths), nil
		}),
	}
}

// twiceSteps split again in the aggregator.
func twiceSteps() []processor.Step {
	steps := threeWays(square, all, 0)
	steps[2] = patient("Sum", func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Split("Square", 10, 20).Join("Total"), nil
	})
	return append(steps, patient("Total", processor.Aggregate(sum)))
}

// emptySteps split in nothing at all.
func emptySteps() []processor.Step {
	steps := threeWays(square, all, 0)
	steps[0] = patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Split("Square").Join("Sum"), nil
	})
	return steps
}

// rescueSteps hand on to another step where the work of one fails.
func rescueSteps() []processor.Step {
	steps := threeWays(failsAt("02.00"), all, 0)
	steps[1].OnFailure = "Rescue"
	return append(steps, patient("Rescue", func(context.Context, *processor.Task) (processor.Outcome, error) {
		return processor.Complete(100), nil
	}))
}

// stumbling fails the first two times, whoever tries.
func stumbling(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
	if t.Event == "02.00" && t.Attempt < 3 {
		return processor.Outcome{}, errors.New("not yet")
	}
	return square(ctx, t)
}

// slowSteps have an attempt that takes longer than it may.
func slowSteps() []processor.Step {
	steps := threeWays(func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		if t.Event == "02.00" && t.Attempt == 1 {
			<-ctx.Done()
			return processor.Outcome{}, ctx.Err()
		}
		return square(ctx, t)
	}, all, 0)
	steps[1].Timeout = 5 * time.Second
	return steps
}

// until reads the stream until it is as wanted.
func until(ctx context.Context, p *process, is func(*eventstream.Stream) bool) error {
	for {
		snapshot, err := p.Read(ctx, "r")
		if err != nil {
			return err
		}
		if is(snapshot.Stream) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

func waiting(id string) func(*eventstream.Stream) bool {
	return func(s *eventstream.Stream) bool {
		e := s.Event(id)
		return e != nil && (e.Waiting() || e.Status().Final())
	}
}

// finalAt is until an event has ended.
func finalAt(id string) func(*eventstream.Stream) bool {
	return func(s *eventstream.Stream) bool {
		e := s.Event(id)
		return e != nil && e.Status().Final()
	}
}

// done passes over the error of somebody who comes second.
func done(err error) error {
	if errors.Is(err, eventstream.ErrFinal) {
		return nil
	}
	return err
}

func answer(ctx context.Context, p *process) error {
	if err := until(ctx, p, waiting("02.00")); err != nil {
		return err
	}
	return done(p.Complete(ctx, "r", "02.00", json.RawMessage("100"), "ann"))
}

func cancelOne(ctx context.Context, p *process) error {
	if err := until(ctx, p, waiting("02.00")); err != nil {
		return err
	}
	return done(p.Cancel(ctx, "r", "02.*", "ann", "enough"))
}

func abortAll(ctx context.Context, p *process) error {
	if err := until(ctx, p, func(s *eventstream.Stream) bool {
		return waiting("02.00")(s) && finalAt("01.00")(s) && finalAt("03.00")(s)
	}); err != nil {
		return err
	}
	return done(p.Abort(ctx, "r", "", "ann", "enough"))
}

func skipOne(ctx context.Context, p *process) error {
	if err := until(ctx, p, waiting("02.00")); err != nil {
		return err
	}
	return done(p.Skip(ctx, "r", "02.00", "ann", "sold out"))
}

// retryOnce retries what failed unless that was done before.
func retryOnce(ctx context.Context, p *process) error {
	retried := func(s *eventstream.Stream) bool {
		return s.Event("02.00") != nil && s.Event("02.00").Attr("by") == "ann"
	}
	err := until(ctx, p, func(s *eventstream.Stream) bool { return s.IsDone() || retried(s) })
	if err != nil {
		return err
	}
	snapshot, err := p.Read(ctx, "r")
	if err != nil || retried(snapshot.Stream) {
		return err
	}
	_, err = p.Retry(ctx, "r", &processor.RetryOptions{Input: json.RawMessage("7"), By: "ann"})
	return err
}

// pauseAWhile pauses the run before it is done and resumes it.
func pauseAWhile(ctx context.Context, p *process) error {
	if err := p.Pause(ctx, "r", "", "ann", "lunch"); done(err) != nil {
		return err
	}
	time.Sleep(time.Minute)
	return done(p.Resume(ctx, "r", ""))
}

// onceMore aborts one branch until a retry has given it another message.
func onceMore(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
	if t.Event == "02.00" && string(t.Input) == "2" {
		return processor.Abort("broken"), nil
	}
	return square(ctx, t)
}

// countSteps count the branches that ended well, of which there have to be all.
func countSteps() []processor.Step {
	steps := threeWays(onceMore, eventstream.FailFast, 0)
	steps[2] = patient("Sum", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
		n := 0
		for r, err := range t.Results() {
			if err != nil {
				return processor.Outcome{}, err
			}
			if r.OK() {
				n++
			}
		}
		return processor.Complete(n), nil
	})
	return steps
}

var plots = []plot{
	{name: "split", steps: threeWays(square, all, 0), want: "completed false 14", exact: true},
	{name: "nested", steps: nestedSteps(), want: "completed false 28", exact: true},
	{name: "empty split", steps: emptySteps(), want: "completed false 0", exact: true},
	{name: "chain", steps: chainSteps(), want: "completed false 27006", exact: true},
	{name: "aggregator that splits", steps: twiceSteps(), want: "completed false 500", exact: true},
	{name: "on_failure", steps: rescueSteps(), want: "completed false 110", exact: true},
	{name: "repeated", steps: threeWays(stumbling, all, 0), want: "completed false 14", exact: true},
	{name: "timeout", steps: slowSteps(), want: "completed false 14", exact: true},
	{name: "aborted branch", steps: threeWays(failsAt("02.00"), all, 0), want: "completed true 10", exact: true},
	{name: "failfast", steps: threeWays(failsAt("02.00"), eventstream.FailFast, 0), want: "aborted false "},
	{name: "first", steps: threeWays(failsAt("02.00"), eventstream.First(2), 0), want: "completed true 10"},
	{name: "first impossible", steps: threeWays(failsAt("02.00"), eventstream.First(3), 0), want: "aborted false "},
	{name: "tolerate", steps: threeWays(failsAt("02.00"), eventstream.Tolerate(1), 0), want: "completed true 10", exact: true},
	{name: "not tolerated", steps: threeWays(failsAt("02.00"), eventstream.ToleratePercent(10), 0), want: "aborted false "},
	{name: "split timeout", steps: threeWays(waitsAt("02.00"), all, 5*time.Minute), want: "completed true 10", exact: true},
	{name: "completed from outside", steps: threeWays(waitsAt("02.00"), all, 0), then: answer, want: "completed false 110", exact: true},
	{name: "canceled branch", steps: threeWays(waitsAt("02.00"), all, 0), then: cancelOne, want: "completed true 10", exact: true},
	{name: "aborted run", steps: threeWays(waitsAt("02.00"), all, 0), then: abortAll, want: "aborted false ", exact: true},
	{name: "skipped branch", steps: threeWays(waitsAt("02.00"), all, 0), then: skipOne, want: "completed false 10", exact: true},
	{name: "retried branch", steps: threeWays(onceMore, all, 0), then: retryOnce, want: "completed false 59"},
	{name: "retried run", steps: countSteps(), then: retryOnce, want: "completed false 3"},
	{name: "paused", steps: threeWays(square, all, 0), then: pauseAWhile, want: "completed false 14", exact: true},
}
