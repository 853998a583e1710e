package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func TestRun_SplitsAndAggregates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 10), eventstream.Completed, false, "385")
	})
}

func TestRun_EmptySplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 0), eventstream.Completed, false, "0")
	})
}

func TestRun_SharedByProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var done [3]atomic.Int32
		processes := make([]*process, len(done))
		var pl *processor.Pipeline
		for i := range processes {
			pl = squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				done[i].Add(1)
				time.Sleep(10 * time.Millisecond)
				return square(ctx, task)
			})
			processes[i] = w.process(nil)
			processes[i].work(&processor.WorkOptions{Slots: 2}, pl)
		}
		wantEnd(t, processes[0].run(pl, "r", 100), eventstream.Completed, false, "338350")
		total := int32(0)
		for i := range done {
			n := done[i].Load()
			total += n
			if n < 20 {
				t.Errorf("process %d did %d of 100 branches, want at least a fifth", i, n)
			}
		}
		if total != 100 {
			t.Errorf("%d branches were run, want each of 100 once", total)
		}
	})
}

func TestRun_FailedBranchesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, processor.Func(func(_ context.Context, n int) (int, error) {
			if n == 3 {
				return 0, errors.New("three is not to my taste")
			}
			return n * n, nil
		}))
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 4), eventstream.Completed, true, "21")
		e := p.stream("r").Event("03.00")
		if e.Status() != eventstream.Aborted || e.Failures() != 3 || len(e.Attempts()) != 3 || !strings.Contains(e.Msg(), "taste") {
			t.Errorf("event 03.00 is %v after %d failures, attempts %v: %s", e.Status(), e.Failures(), e.Attempts(), e.Msg())
		}
	})
}

func TestRun_RetrySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Event == "02.00" && task.Attempt < 3 {
				return processor.Outcome{}, errors.New("not yet")
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", 2), eventstream.Completed, false, "5")
		if waited := time.Since(begin); waited < 750*time.Millisecond || waited > 5*time.Second {
			t.Errorf("two repeats took %v, want the backoff of 0.25–0.5 s and 0.5–1 s", waited)
		}
	})
}

func TestRun_PanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Retry: processor.Retry{Attempts: 1},
			Handler: func(context.Context, *processor.Task) (processor.Outcome, error) { panic("oops") }})
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Aborted, false, "")
		if !strings.Contains(end.Msg, "oops") {
			t.Errorf("Msg = %q, want the panic's value", end.Msg)
		}
	})
}

func TestRun_NextOnFailureAndAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "A", OnFailure: "Rescue", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Abort("no way"), nil
			}},
			processor.Step{Name: "Rescue", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				return processor.Next("Last", string(task.Input)), nil
			}},
			processor.Step{Name: "Last", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				return processor.Complete(task.Input), nil
			}},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 7), eventstream.Completed, false, `"{\"error\":\"no way\",\"input\":7}"`)
	})
}

func TestRun_UnknownStepAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Next("B", nil), nil
		}})
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Aborted, false, "")
		if !strings.Contains(end.Msg, `no step "B"`) {
			t.Errorf("Msg = %q, want the name of the missing step", end.Msg)
		}
	})
}

func TestRun_BigPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		big := strings.Repeat("x", 100_000)
		pl := pipeline(t,
			processor.Step{Name: "A", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Split("B", big, big).Join("C"), nil
			}},
			processor.Step{Name: "B", Handler: processor.Func(func(_ context.Context, s string) (string, error) { return s + "y", nil })},
			processor.Step{Name: "C", Handler: processor.Aggregate(func(_ context.Context, results iter.Seq2[string, error]) (int, error) {
				n := 0
				for s, err := range results {
					if err != nil {
						return 0, err
					}
					n += len(s)
				}
				return n, nil
			})},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", big), eventstream.Completed, false, "200002")
		if size := p.stream("r").Size(); size > 10_000 {
			t.Errorf("the document has %d bytes, want big payloads outside", size)
		}
	})
}

func TestStart_IsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		first := p.start(pl, "r", 3)
		second := p.start(pl, "r", 3)
		if first.Attached || !second.Attached || first.ID != second.ID {
			t.Errorf("Start twice = %+v, %+v, want the same run attached", first, second)
		}
		_, err := p.Start(t.Context(), pl, []byte("4"), &processor.StartOptions{Name: "r"})
		if !errors.Is(err, processor.ErrConflict) {
			t.Errorf("Start with another input = %v, want ErrConflict", err)
		}
		other := pipeline(t, processor.Step{Name: "X", Handler: square})
		_, err = p.Start(t.Context(), other, []byte("3"), &processor.StartOptions{Name: "r"})
		if !errors.Is(err, processor.ErrConflict) {
			t.Errorf("Start of another definition = %v, want ErrConflict", err)
		}
	})
}

func TestStart_Resumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		resume := func(input string) *processor.Run {
			run, err := p.Start(t.Context(), pl, []byte(input), &processor.StartOptions{Resume: true})
			if err != nil {
				t.Fatal(err)
			}
			return run
		}
		first := resume("3")
		if again := resume(" 3 "); !again.Attached || again.Name != first.Name {
			t.Errorf("Start with Resume = %+v, want %q again", again, first.Name)
		}
		if other := resume("4"); other.Attached {
			t.Errorf("Start with Resume and another input = %+v, want a new run", other)
		}
		p.work(nil, pl)
		p.await(first.Name)
		if after := resume("3"); after.Attached {
			t.Errorf("Start with Resume after the end = %+v, want a new run", after)
		}
	})
}

func TestCancel_StopsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, other := w.process(nil), w.process(nil)
		stopped := make(chan error, 1)
		pl := pipeline(t, processor.Step{Name: "A", Handler: func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return processor.Outcome{}, ctx.Err()
		}})
		p.work(nil, pl)
		p.start(pl, "r", nil)
		time.Sleep(time.Second)
		if err := other.Cancel(t.Context(), "r", "", "me", "enough"); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if cause := <-stopped; !errors.Is(cause, processor.ErrCanceled) {
			t.Errorf("handler's context ended with %v, want ErrCanceled", cause)
		}
		if waited := time.Since(begin); waited > 2*200*time.Millisecond {
			t.Errorf("the handler was stopped after %v, want two polls at most", waited)
		}
		end := p.await("r")
		wantEnd(t, end, eventstream.Canceled, false, "")
		if end.Msg != "enough" {
			t.Errorf("Msg = %q, want the reason", end.Msg)
		}
	})
}

func TestWait_CompletedFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "Ask", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Wait(time.Hour), nil
			}},
		)
		p.work(nil, pl)
		p.start(pl, "r", nil)
		time.Sleep(time.Minute)
		if err := p.Complete(t.Context(), "r", "00", []byte(`"yes"`), "boss"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, `"yes"`)
	})
}

func TestTimeout_IsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Timeout: time.Second, Retry: processor.Retry{Attempts: 2},
			Handler: func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
				<-ctx.Done()
				return processor.Outcome{}, ctx.Err()
			}})
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Aborted, false, "")
		if !strings.Contains(end.Msg, processor.ErrTimeout.Error()) {
			t.Errorf("Msg = %q, want the timeout", end.Msg)
		}
	})
}

func TestShutdown_GivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first, second := w.process(nil), w.process(nil)
		hang := squares(t, func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			return processor.Outcome{}, ctx.Err()
		})
		first.work(&processor.WorkOptions{Grace: -1}, hang)
		first.start(hang, "r", 3)
		time.Sleep(time.Second)
		first.stop()
		first.done.Wait()
		s := second.stream("r")
		if p := s.Progress(); p.Init != 3 || p.Inprocess != 1 {
			t.Errorf("after the shutdown: %+v, want all branches given back", p)
		}
		if f := s.Event("01.00").Failures(); f != 0 {
			t.Errorf("a given back event counts %d failures, want 0", f)
		}
		pl := squares(t, square)
		second.work(nil, pl)
		wantEnd(t, second.await("r"), eventstream.Completed, false, "14")
	})
}

func TestWork_IsFairBetweenRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(100 * time.Millisecond)
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 2}, pl)
		p.start(pl, "big", 1000)
		time.Sleep(time.Second)
		begin := time.Now()
		wantEnd(t, p.run(pl, "small", 4), eventstream.Completed, false, "30")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("the small run took %v beside a big one that takes 50 s", took)
		}
	})
}

func TestWork_ConcurrencyOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var now, most atomic.Int32
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: splitNumbers},
			processor.Step{Name: "Square", Concurrency: 3, Handler: func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				time.Sleep(100 * time.Millisecond)
				return square(ctx, task)
			}},
			processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
		)
		p.work(&processor.WorkOptions{Slots: 10}, pl)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", 30), eventstream.Completed, false, "9455")
		if most.Load() != 3 {
			t.Errorf("%d handlers of the step ran at a time, want 3", most.Load())
		}
		if took := time.Since(begin); took > 1500*time.Millisecond {
			t.Errorf("30 branches of 100 ms, 3 at a time, took %v", took)
		}
	})
}

func TestWork_TakenID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		a, b := w.process(nil), w.process(nil)
		a.work(&processor.WorkOptions{ID: "w"}, pl)
		time.Sleep(time.Second)
		b.work(&processor.WorkOptions{ID: "w"}, pl)
		wantEnd(t, b.run(pl, "r", 10), eventstream.Completed, false, "385")
	})
}

func TestHeartbeat_IsWhatTheNextAttemptGoesOnFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var done atomic.Int32
		pl := pipeline(t, processor.Step{Name: "A", Handler: func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			from := 0
			if task.Cursor != nil {
				if err := json.Unmarshal(task.Cursor, &from); err != nil {
					return processor.Outcome{}, err
				}
			}
			for i := from; i < 10; i++ {
				if i == 4 && task.Attempt == 1 {
					return processor.Outcome{}, errors.New("power cut")
				}
				done.Add(1)
				if err := task.Heartbeat(ctx, i+1); err != nil {
					return processor.Outcome{}, err
				}
			}
			return processor.Complete("done"), nil
		}})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, `"done"`)
		if done.Load() != 10 {
			t.Errorf("%d items were worked on, want each of 10 once", done.Load())
		}
	})
}

func TestShutdown_HurryEndsTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		hang := squares(t, func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			return processor.Outcome{}, ctx.Err()
		})
		hurry := make(chan struct{})
		p.work(&processor.WorkOptions{Grace: time.Hour, Hurry: hurry}, hang)
		p.start(hang, "r", 3)
		time.Sleep(time.Second)
		p.stop()
		time.Sleep(time.Minute)
		begin := time.Now()
		close(hurry)
		p.done.Wait()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("after the hurry the worker went on for %v", took)
		}
		if got := p.stream("r").Progress(); got.Init != 3 {
			t.Errorf("after the shutdown: %+v, want the branches given back", got)
		}
	})
}
