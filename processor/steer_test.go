package processor_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func TestPause_StopsClaimsAndResumeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(time.Second)
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 1}, pl)
		p.start(pl, "r", 10)
		time.Sleep(2500 * time.Millisecond)
		if err := p.Pause(t.Context(), "r", "", "me", "lunch"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		before := p.stream("r").Progress()
		time.Sleep(time.Minute)
		if after := p.stream("r").Progress(); after != before || after.Inprocess != 1 {
			t.Errorf("the paused run went from %+v to %+v", before, after)
		}
		if err := p.Resume(t.Context(), "r", ""); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "385")
	})
}

func TestRetry_RunsWhatFailedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var broken atomic.Bool
		var runs atomic.Int32
		broken.Store(true)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			runs.Add(1)
			if broken.Load() && task.Event == "02.00" {
				return processor.Abort("broken"), nil
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 3), eventstream.Completed, true, "10")
		broken.Store(false)
		ids, err := p.Retry(t.Context(), "r", &processor.RetryOptions{By: "me"})
		if err != nil || !slices.Equal(ids, []string{"02.00"}) {
			t.Fatalf("Retry() = %v, %v, want the branch that failed", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		if runs.Load() != 4 {
			t.Errorf("handlers ran %d times, want the finished branches left alone", runs.Load())
		}
		if _, err := p.Retry(t.Context(), "r", nil); !errors.Is(err, eventstream.ErrNothingToReopen) {
			t.Errorf("Retry() of a run without failures = %v, want ErrNothingToReopen", err)
		}
		ids, err = p.Retry(t.Context(), "r", &processor.RetryOptions{From: "01.00", Input: []byte("10")})
		if err != nil || !slices.Equal(ids, []string{"01.00"}) {
			t.Fatalf("Retry(From 01.00) = %v, %v", ids, err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "113")
	})
}

func TestSkip_CompletesWithoutOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Event == "02.00" {
				return processor.Wait(0), nil
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		p.start(pl, "r", 3)
		time.Sleep(time.Minute)
		if err := p.Skip(t.Context(), "r", "02.00", "me", "not needed"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "10")
		if err := p.Skip(t.Context(), "r", "02.00", "me", "again"); !errors.Is(err, eventstream.ErrFinal) {
			t.Errorf("Skip() of a final event = %v, want ErrFinal", err)
		}
	})
}

func TestSteer_UnknownPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		p.start(pl, "r", 3)
		for _, c := range []struct {
			name, at string
			want     error
		}{
			{"missing", "", processor.ErrNoRun},
			{"r", "07.00", processor.ErrNoEvent},
			{"r", "07.*", processor.ErrNoEvent},
			{"../r", "", processor.ErrName},
		} {
			if err := p.Cancel(t.Context(), c.name, c.at, "", ""); !errors.Is(err, c.want) {
				t.Errorf("Cancel(%q, %q) = %v, want %v", c.name, c.at, err, c.want)
			}
		}
	})
}

func TestPauseAll_StopsEveryWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, other := w.process(nil), w.process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(time.Second)
			return square(ctx, task)
		})
		p.work(&processor.WorkOptions{Slots: 1}, pl)
		p.start(pl, "r", 10)
		time.Sleep(2500 * time.Millisecond)
		if err := other.PauseAll(t.Context(), "me", "upgrade"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		before := p.stream("r").Progress()
		if paused, err := p.AllPaused(t.Context()); err != nil || !paused {
			t.Errorf("AllPaused() = %v, %v", paused, err)
		}
		other.work(nil, pl)
		time.Sleep(time.Minute)
		if after := p.stream("r").Progress(); after != before || after.Inprocess != 1 {
			t.Errorf("the run went from %+v to %+v while all was paused", before, after)
		}
		for range 2 {
			if err := other.ResumeAll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "385")
	})
}

func TestComplete_OnlyWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if task.Event == "03.00" {
				time.Sleep(10 * time.Second)
				return processor.Complete(100), nil
			}
			return processor.Wait(0), nil
		})
		p.work(nil, pl)
		p.start(pl, "r", 3)
		time.Sleep(5 * time.Second)
		complete := func(id string) error { return p.Complete(t.Context(), "r", id, []byte("1"), "me") }
		for _, id := range []string{"", "00", "03.00"} {
			if err := complete(id); !errors.Is(err, eventstream.ErrStatus) {
				t.Errorf("Complete(%q) = %v, want ErrStatus", id, err)
			}
		}
		if err := complete("01.00"); err != nil {
			t.Error(err)
		}
		if err := complete(""); err != nil { // only one is left that can be meant
			t.Error(err)
		}
		if err := complete("02.00"); !errors.Is(err, eventstream.ErrFinal) {
			t.Errorf("Complete() of a final event = %v, want ErrFinal", err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "102")
	})
}

// A run that is aborted or canceled ends so whatever it had come to, and says why.
func TestSteer_TheWholeRunInEachPhase(t *testing.T) {
	waits := func(context.Context, *processor.Task) (processor.Outcome, error) { return processor.Wait(0), nil }
	phases := map[string]func() []processor.Step{
		"begin":    func() []processor.Step { return []processor.Step{patient("Split", hangs)} },
		"branches": func() []processor.Step { return threeWays(hangs, all, 0) },
		"aggregator": func() []processor.Step {
			steps := threeWays(square, all, 0)
			steps[2].Handler = hangs
			return steps
		},
		"aggregator that waits": func() []processor.Step {
			steps := threeWays(square, all, 0)
			steps[2].Handler = waits
			return steps
		},
	}
	for phase, steps := range phases {
		for _, c := range []struct {
			how, msg string
			call     func(p *process) error
			want     eventstream.Status
		}{
			{"abort", "enough", func(p *process) error { return p.Abort(context.Background(), "r", "", "ann", "enough") }, eventstream.Aborted},
			{"cancel", "enough", func(p *process) error { return p.Cancel(context.Background(), "r", "", "ann", "enough") }, eventstream.Canceled},
			{"deadline", "deadline", func(*process) error { return nil }, eventstream.Aborted},
		} {
			t.Run(phase+"/"+c.how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newWorld(t).process(nil)
					pl := pipeline(t, steps()...)
					p.work(nil, pl)
					if _, err := p.Start(t.Context(), pl, nil, &processor.StartOptions{Name: "r", Deadline: time.Minute}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(5 * time.Second)
					if err := c.call(p); err != nil {
						t.Fatal(err)
					}
					end := p.await("r")
					wantEnd(t, end, c.want, false, "")
					if info, err := p.Look(t.Context(), "r"); err != nil || end.Msg != c.msg || info.Status != c.want {
						t.Errorf("the run ended because of %q, and is listed as %v, %v; want %q", end.Msg, info.Status, err, c.msg)
					}
				})
			})
		}
	}
}
