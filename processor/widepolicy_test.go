package processor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// numbers is a splitter to so many messages 1, 2, …, with a policy.
func numbers(n int, policy string) processor.Handler {
	return func(context.Context, *processor.Task) (processor.Outcome, error) {
		p, err := eventstream.ParsePolicy(policy)
		if err != nil {
			return processor.Outcome{}, err
		}
		messages := make([]any, n)
		for i := range messages {
			messages[i] = i + 1
		}
		return processor.Split("Work", messages...).Join("Sum").Policy(p), nil
	}
}

func fanOut(t *testing.T, split, work processor.Handler) *processor.Pipeline {
	t.Helper()
	return pipeline(t,
		processor.Step{Name: "Split", Handler: split},
		processor.Step{Name: "Work", Handler: work, Retry: processor.Retry{Attempts: 1}},
		processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
	)
}

// hangBut works on the messages that f knows, and hangs on all others until it is
// stopped.
func hangBut(stopped *atomic.Int32, f func(n int) (processor.Outcome, bool)) processor.Handler {
	return func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
		var n int
		if err := task.Decode(&n); err != nil {
			return processor.Outcome{}, err
		}
		if out, ok := f(n); ok {
			return out, nil
		}
		<-ctx.Done()
		stopped.Add(1)
		return processor.Outcome{}, ctx.Err()
	}
}

// wantNoneOpen checks that nothing of a run goes on.
func wantNoneOpen(t *testing.T, p *process) {
	t.Helper()
	for d, err := range p.Documents(t.Context(), "r") {
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Stream.Progress(); got.Init+got.Inprocess > 0 || !d.Stream.IsDone() {
			t.Errorf("document %q goes on: %+v", d.Address(eventstream.RootID), got)
		}
	}
}

func TestWide_FailFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var stopped atomic.Int32
		pl := fanOut(t, numbers(12, "failfast"), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Abort("seven"), n == 7
		}))
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		begin := time.Now()
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Aborted, false, "")
		if !strings.Contains(end.Msg, "failfast") || time.Since(begin) > time.Second {
			t.Errorf("ended after %v: %s", time.Since(begin), end.Msg)
		}
		time.Sleep(time.Second)
		if stopped.Load() == 0 {
			t.Error("no handler was stopped")
		}
		wantNoneOpen(t, p)
	})
}

func TestWide_First(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var stopped atomic.Int32
		pl := fanOut(t, numbers(12, "first:3"), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Complete(n), n%4 == 0
		}))
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, true, "24") // 4 + 8 + 12
		time.Sleep(time.Second)
		if stopped.Load() != 9 {
			t.Errorf("%d handlers were stopped, want 9", stopped.Load())
		}
		wantNoneOpen(t, p)
	})
}

func TestWide_FirstBecomesImpossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var stopped atomic.Int32
		pl := fanOut(t, numbers(12, "first:11"), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Abort("no"), n == 1 || n == 12
		}))
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Aborted, false, "")
		time.Sleep(time.Second)
		wantNoneOpen(t, p)
	})
}

func TestWide_Tolerate(t *testing.T) {
	for policy, want := range map[string]eventstream.Status{
		"tolerate:3": eventstream.Completed, "tolerate:2": eventstream.Aborted,
		"tolerate:25%": eventstream.Completed, "tolerate:24%": eventstream.Aborted,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newWorld(t).process(nil)
			var stopped atomic.Int32
			pl := fanOut(t, numbers(12, policy), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
				if n%4 == 0 {
					return processor.Abort("no"), true
				}
				// Without tolerance each child is left with somebody who hangs.
				return processor.Complete(n), want == eventstream.Completed || n%5 != 1
			}))
			p.work(&processor.WorkOptions{Slots: 20}, pl)
			end := p.run(pl, "r", nil)
			if end.Status != want {
				t.Errorf("policy %s: the run ended %v: %s", policy, end.Status, end.Msg)
			}
			time.Sleep(time.Second)
			wantNoneOpen(t, p)
		})
	}
}

func TestWide_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var stopped atomic.Int32
		split := func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			out, err := numbers(12, "all")(ctx, task)
			return out.Timeout(time.Minute), err
		}
		pl := fanOut(t, split, hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Complete(n), n != 3 && n != 9
		}))
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, true, "66") // 78 - 3 - 9
		if took := time.Since(begin); took < time.Minute || took > time.Minute+5*time.Second {
			t.Errorf("ended after %v, want a minute", took)
		}
		wantNoneOpen(t, p)
	})
}

func TestWide_Cancel(t *testing.T) {
	for at, open := range map[string]int{"": 0, "02.00": 7, "02.*": 7, "02.00/03.00": 11, "02.00/03.*": 11} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p, other := w.process(nil), w.process(nil)
			var stopped atomic.Int32
			pl := fanOut(t, numbers(12, "all"), hangBut(&stopped, func(int) (processor.Outcome, bool) {
				return processor.Outcome{}, false
			}))
			p.work(&processor.WorkOptions{Slots: 20}, pl)
			p.start(pl, "r", nil)
			time.Sleep(time.Second)
			if err := other.Cancel(t.Context(), "r", at, "me", "enough"); err != nil {
				t.Fatalf("Cancel(%q) = %v", at, err)
			}
			time.Sleep(500 * time.Millisecond) // two polls
			if got := int(stopped.Load()); got != 12-open {
				t.Errorf("Cancel(%q) stopped %d handlers, want %d", at, got, 12-open)
			}
			if err := other.Cancel(t.Context(), "r", "", "me", "enough"); open > 0 && err != nil {
				t.Errorf("Cancel() = %v", err)
			}
			wantEnd(t, p.await("r"), eventstream.Canceled, false, "")
			time.Sleep(time.Second)
			wantNoneOpen(t, p)
		})
	}
}

func TestWide_CancelWhatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		p.work(nil, pl)
		p.run(pl, "r", 12)
		for _, at := range []string{"09.00/01.00", "01.00/09.00", "01.00/", "/01.00", "../x", "01.00/01.00/01.00", "00/00"} {
			if err := p.Cancel(t.Context(), "r", at, "", ""); !errors.Is(err, processor.ErrNoEvent) {
				t.Errorf("Cancel(%q) = %v, want ErrNoEvent", at, err)
			}
			_, err := p.Retry(t.Context(), "r", &processor.RetryOptions{Below: at})
			if !errors.Is(err, processor.ErrNoEvent) {
				t.Errorf("Retry(%q) = %v, want ErrNoEvent", at, err)
			}
		}
		if err := p.Cancel(t.Context(), "gone", "01.00/01.00", "", ""); !errors.Is(err, processor.ErrNoRun) || errors.Is(err, processor.ErrNoEvent) {
			t.Errorf("Cancel() of no run = %v, want ErrNoRun", err)
		}
	})
}

func TestWide_PauseAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, other := w.process(nil), w.process(nil)
		var done atomic.Int32
		pl := fanOut(t, numbers(12, "all"), processor.Func(func(_ context.Context, n int) (int, error) {
			time.Sleep(time.Second)
			done.Add(1)
			return n, nil
		}))
		p.work(&processor.WorkOptions{Slots: 1}, pl)
		p.start(pl, "r", nil)
		time.Sleep(2500 * time.Millisecond)
		if err := other.Pause(t.Context(), "r", "", "me", "lunch"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		before := done.Load()
		time.Sleep(time.Minute)
		if after := done.Load(); after != before || before < 2 || before > 4 {
			t.Errorf("%d branches were done before the pause had come to rest, %d after it", before, after)
		}
		if err := other.Resume(t.Context(), "r", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		// A branch alone.
		at := waitingBranch(t, p)
		if err := other.Pause(t.Context(), "r", at, "me", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if done.Load() != 11 {
			t.Errorf("%d branches are done, want all but the one that is paused", done.Load())
		}
		if err := other.Resume(t.Context(), "r", at); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "78")
	})
}

// waitingBranch is the address of a branch that nobody has claimed.
func waitingBranch(t *testing.T, p *process) string {
	t.Helper()
	for d, err := range p.Documents(t.Context(), "r") {
		if err != nil {
			t.Fatal(err)
		}
		for e := range d.Stream.ByStatus(eventstream.Init) {
			if e.Topic() == "Work" && !e.IsBatch() {
				return d.Address(e.ID())
			}
		}
	}
	t.Fatal("no branch waits for a worker")
	return ""
}

func TestWide_CompleteAndSkip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := fanOut(t, numbers(12, "all"), func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Wait(0), nil
		})
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		p.start(pl, "r", nil)
		time.Sleep(time.Second)
		if err := p.Complete(t.Context(), "r", "01.00", nil, ""); !errors.Is(err, eventstream.ErrStatus) {
			t.Errorf("Complete() of a batch event = %v, want ErrStatus", err)
		}
		for i := range 5 {
			at := fmt.Sprintf("01.00/%02d.00", i+1)
			if err := p.Complete(t.Context(), "r", at, fmt.Append(nil, 10*i), "me"); err != nil {
				t.Errorf("Complete(%q) = %v", at, err)
			}
		}
		if err := p.Skip(t.Context(), "r", "02.00", "me", "not needed"); err != nil {
			t.Errorf("Skip() of a batch event = %v", err)
		}
		for _, at := range []string{"03.00/01.00", "03.00/02.00"} {
			if err := p.Skip(t.Context(), "r", at, "me", "not needed"); err != nil {
				t.Errorf("Skip(%q) = %v", at, err)
			}
		}
		end := p.await("r")
		if end.Status != eventstream.Completed {
			t.Errorf("the run ended %v: %s", end.Status, end.Msg)
		}
		wantNoneOpen(t, p)
	})
}

// A branch of a wide split splits widely itself.
func TestWide_Nested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		var broken atomic.Bool
		broken.Store(true)
		split := func(join string) processor.Handler {
			return func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				messages := make([]any, 7)
				for i := range messages {
					messages[i] = i
				}
				return processor.Split(map[string]string{"All": "Inner", "Each": "Leaf"}[join], messages...).Join(join), nil
			}
		}
		pl := pipeline(t,
			processor.Step{Name: "Outer", Handler: split("All")},
			processor.Step{Name: "Inner", Handler: split("Each")},
			processor.Step{Name: "Leaf", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				if broken.Load() && task.Event == "02.00/01.01.00/03.00" {
					return processor.Abort("broken"), nil
				}
				return processor.Complete(1), nil
			}},
			processor.Step{Name: "Each", Handler: processor.Aggregate(sum)},
			processor.Step{Name: "All", Handler: processor.Aggregate(sum)},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, true, "48")
		ids, err := p.Retry(t.Context(), "r", nil)
		if want := []string{"02.00/01.01.00/03.00"}; err != nil || !slices.Equal(ids, want) {
			t.Errorf("Retry() = %q, %v, want %q", ids, err, want)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, true, "48")
		broken.Store(false)
		if _, err := p.Retry(t.Context(), "r", &processor.RetryOptions{Below: "02.00/01.01.00/03.00"}); err != nil {
			t.Errorf("Retry() = %v", err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "49")
		documents := 0
		for range p.Documents(t.Context(), "r") {
			documents++
		}
		if want := 1 + 2 + 7*2; documents != want {
			t.Errorf("the run has %d documents, want %d", documents, want)
		}
		wantNoneOpen(t, p)
		time.Sleep(2 * time.Hour)
		if purged, err := p.Purge(t.Context(), "r"); err != nil || purged.Children != 16 {
			t.Errorf("Purge() = %+v, %v", purged, err)
		}
		if left := slices.Concat(w.blobs("streams/"), w.blobs("archive/"), w.blobs("payload/")); len(left) > 0 {
			t.Errorf("the purge left %q", left)
		}
	})
}
