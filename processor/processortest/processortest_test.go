package processortest_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/processortest"
	"github.com/leasestream/leasestream/scope/store"
)

var (
	double = processor.Func(func(_ context.Context, n int) (int, error) { return 2 * n, nil })

	split = func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
		return processor.Split("Double", 1, 2, 3).Join("Sum"), nil
	}

	sum = processor.Aggregate(func(_ context.Context, results iter.Seq2[int, error]) (int, error) {
		total := 0
		for n, err := range results {
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	})
)

func pipeline(e *processortest.Env, double processor.Handler) *processor.Pipeline {
	return e.Pipeline(
		processor.Step{Name: "Split", Handler: split},
		processor.Step{Name: "Double", Handler: double, Retry: processor.Retry{Attempts: 3, Backoff: time.Hour, Max: time.Hour}},
		processor.Step{Name: "Sum", Handler: sum},
	)
}

const doubled = `
	00 Split completed
	01.00 Double completed 2
	02.00 Double completed 4
	03.00 Double completed 6
	01 Sum completed 12`

func TestRun(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		pl := pipeline(e, double)
		e.Work(nil, pl)
		name := e.Start(pl, nil)
		if end := e.Await(name); end.Status != eventstream.Completed || string(end.Output) != "12" {
			e.T.Errorf("the run ended %v with %s, want completed with 12", end.Status, end.Output)
		}
		e.WantOutline(name, doubled)
	})
}

func TestFailFirst(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		pl := pipeline(e, processortest.FailFirst(2, double))
		e.Work(nil, pl)
		began := time.Now()
		name := e.Start(pl, nil)
		e.Await(name)
		if d := time.Since(began); d < time.Hour {
			e.T.Errorf("two retries took %v of fake time, want more than an hour", d)
		}
		e.WantOutline(name, strings.ReplaceAll(doubled, "Double completed", "Double completed attempt=3"))
		errs := e.Stream(name).Event("01.00").Attempts()
		if len(errs) != 2 || !strings.Contains(errs[0].Error, processortest.ErrInjected.Error()) {
			e.T.Errorf("the failed attempts are %+v, want 2 that tell of the injected error", errs)
		}
	})
}

func TestFailFirst_Spent(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		pl := pipeline(e, processortest.FailFirst(3, double))
		e.Work(nil, pl)
		name := e.Start(pl, nil)
		e.Await(name)
		if got := e.Outline(name); !strings.Contains(got, `01.00 Double aborted attempt=3 msg="attempt 3 of event 01.00`) {
			e.T.Errorf("the run is\n%s\nwant 01.00 aborted at its third attempt", got)
		}
	})
}

// A worker that is killed in the middle of a branch leaves it to another one.
func TestWorker_Kill(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		var first *processortest.Worker
		var killed atomic.Bool
		pl := pipeline(e, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Event == "02.00" && killed.CompareAndSwap(false, true) {
				first.Kill()
			}
			return double(ctx, task)
		})
		first = e.Work(&processor.WorkOptions{Slots: 1}, pl)
		name := e.Start(pl, nil)
		for !killed.Load() {
			time.Sleep(time.Second)
		}
		e.Work(nil, pl)
		e.Await(name)
		got := e.Stream(name)
		if n := got.Event("02.00").Attempt(); n != 2 || string(e.Await(name).Output) != "12" {
			e.T.Errorf("event 02.00 had %d attempts, want 2, and the run is\n%s", n, e.Outline(name))
		}
	})
}

func TestWorker_FailStore(t *testing.T) {
	for _, carriedOut := range []bool{false, true} {
		processortest.Run(t, func(e *processortest.Env) {
			pl := pipeline(e, double)
			w := e.Work(nil, pl)
			time.Sleep(time.Second) // it has registered
			name := e.Start(pl, nil)
			w.FailStore(5, carriedOut)
			if end := e.Await(name); string(end.Output) != "12" {
				e.T.Errorf("carried out %t: the run is\n%s", carriedOut, e.Outline(name))
			}
		})
	}
}

func TestWorker_Stop(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		pl := pipeline(e, processortest.Slow(time.Second, double))
		w := e.Work(nil, pl)
		name := e.Start(pl, nil)
		time.Sleep(1500 * time.Millisecond)
		w.Stop()
		if got := e.Outline(name); strings.Contains(got, "inprocess attempt") {
			e.T.Errorf("after the stop the run is\n%s", got)
		}
		e.Work(nil, pl)
		if end := e.Await(name); string(end.Output) != "12" {
			e.T.Errorf("the run is\n%s", e.Outline(name))
		}
	})
}

func TestSlow_Canceled(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		var stopped atomic.Value
		slow := processortest.Slow(time.Hour, double)
		pl := pipeline(e, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			out, err := slow(ctx, task)
			stopped.Store(err)
			return out, err
		})
		e.Work(nil, pl)
		name := e.Start(pl, nil)
		time.Sleep(time.Minute)
		if err := e.Processor.Cancel(e.T.Context(), name, "", "me", "enough"); err != nil {
			e.T.Fatal(err)
		}
		if end := e.Await(name); end.Status != eventstream.Canceled || end.Msg != "enough" {
			e.T.Errorf("the run ended %v, %q", end.Status, end.Msg)
		}
		time.Sleep(time.Minute)
		if err, _ := stopped.Load().(error); !errors.Is(err, processor.ErrCanceled) {
			e.T.Errorf("the handler ended with %v, want ErrCanceled", err)
		}
	})
}

// What a test does to a document by hand counts, as anybody's would.
func TestEnv_Store(t *testing.T) {
	processortest.Run(t, func(e *processortest.Env) {
		pl := pipeline(e, double)
		name := e.Start(pl, nil)
		blob := processor.BlobOf(name)
		object, err := e.Store().Get(e.T.Context(), blob, nil)
		if err != nil {
			e.T.Fatal(err)
		}
		body := strings.Replace(string(object.Body), `status="init"`, `status="canceled" msg="by hand"`, 1)
		_, err = e.Store().Put(e.T.Context(), blob, []byte(body), &store.PutOptions{Conditions: store.Conditions{IfMatch: object.ETag}})
		if err != nil {
			e.T.Fatal(err)
		}
		e.Await(name)
		e.WantOutline(name, `00 Split canceled msg="by hand"`)
	})
}
