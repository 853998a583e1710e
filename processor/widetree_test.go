package processor_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func TestWide_TasksAndResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		run := make(chan string, 1)
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				var branches []processor.Branch
				for i := range 7 {
					branches = append(branches, processor.Branch{Step: fmt.Sprintf("Work%d", i%2), Message: i, Number: 20 - i})
				}
				return processor.SplitTo(branches...).Join("Join"), nil
			}},
			processor.Step{Name: "Work0", Handler: describe},
			processor.Step{Name: "Work1", Handler: describe},
			processor.Step{Name: "Join", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				var ids []string
				for r, err := range task.Results() {
					if err != nil {
						return processor.Outcome{}, err
					}
					ids = append(ids, r.ID+string(r.Output))
				}
				run <- task.Run
				return processor.Complete(ids), nil
			}},
		)
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		id := <-run
		var want []string
		for i, address := range []string{"01.00/20.00", "01.00/19.00", "01.00/18.00", "01.00/17.00", "01.00/16.00", "02.00/15.00", "02.00/14.00"} {
			want = append(want, fmt.Sprintf(`%s"r %s Work%d %d %s/%s"`, address, address, i%2, i, id, address))
		}
		for i := range want {
			want[i] = fmt.Sprintf("%q", want[i])
		}
		if got := string(end.Output); got != "["+strings.Join(want, ",")+"]" {
			t.Errorf("the results are %s\nwant [%s]", got, strings.Join(want, ","))
		}
	})
}

func describe(_ context.Context, task *processor.Task) (processor.Outcome, error) {
	return processor.Complete(fmt.Sprintf("%s %s %s %s %s", task.Stream, task.Event, task.Step, task.Input, task.Key())), nil
}

func TestWide_NumbersAreUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := fanOut(t, func(context.Context, *processor.Task) (processor.Outcome, error) {
			branches := make([]processor.Branch, 8)
			for i := range branches {
				branches[i] = processor.Branch{Step: "Work", Message: 1, Number: 1 + i%7}
			}
			return processor.SplitTo(branches...), nil
		}, describe)
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Aborted, false, "")
		if !strings.Contains(end.Msg, "number 1") {
			t.Errorf("Msg = %q, want the number that is given twice", end.Msg)
		}
	})
}

func TestWide_BySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		p.SetWide(1000, 10_000)
		pl := fanOut(t, func(context.Context, *processor.Task) (processor.Outcome, error) {
			var messages []any
			for _, n := range []int{4000, 4000, 4000, 20_000, 3000} {
				messages = append(messages, strings.Repeat("x", n))
			}
			return processor.Split("Work", messages...).Join("Sum"), nil
		}, processor.Func(func(_ context.Context, s string) (int, error) { return len(s), nil }))
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, "35000")
		var sizes []int
		for e := range p.stream("r").Batches() {
			branches, _, _ := e.Branches()
			sizes = append(sizes, branches)
		}
		if fmt.Sprint(sizes) != "[2 1 1 1]" {
			t.Errorf("the parts have %v branches", sizes)
		}
	})
}

// messages yields 1 to n, and then an error unless it is nil.
func messages(n int, err error) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for i := range n {
			if !yield(i+1, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func TestWide_SplitSeq(t *testing.T) {
	for _, n := range []int{0, 3, 5, 6, 12} {
		synctest.Test(t, func(t *testing.T) {
			p := newWorld(t).process(nil)
			pl := fanOut(t, func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				switch task.Attempt {
				case 1:
					return processor.SplitSeq("Work", messages(n, errors.New("cut off"))).Join("Sum"), nil
				case 2:
					return processor.SplitSeq("Work", func(func(any, error) bool) { panic("oops") }), nil
				}
				return processor.SplitSeq("Work", messages(n, nil)).Join("Sum").Delay(time.Minute), nil
			}, square)
			p.work(nil, pl)
			begin := time.Now()
			end := p.run(pl, "r", nil)
			wantEnd(t, end, eventstream.Completed, false, fmt.Sprint(n*(n+1)*(2*n+1)/6))
			if took := time.Since(begin); n > 0 && took < time.Minute {
				t.Errorf("%d messages took %v, want the delay", n, took)
			}
			attempts := p.stream("r").Root().Attempts()
			if len(attempts) != 2 || !strings.Contains(attempts[0].Error, "cut off") || !strings.Contains(attempts[1].Error, "oops") {
				t.Errorf("the failed attempts are %v", attempts)
			}
		})
	}
}

func TestWide_SplitSeqToAStepThatIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := fanOut(t, func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			return processor.SplitSeq("Wrok", messages(12, nil)), nil
		}, square)
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		if end.Status != eventstream.Aborted || !strings.Contains(end.Msg, `no step "Wrok"`) {
			t.Errorf("the run ended %v: %s", end.Status, end.Msg)
		}
	})
}

// A run with child streams is one run to all who look from outside.
func TestWide_IsOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		var stopped atomic.Int32
		pl := fanOut(t, numbers(12, "all"), hangBut(&stopped, func(n int) (processor.Outcome, bool) {
			return processor.Complete(n), n%3 == 0
		}))
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		p.start(pl, "r", nil)
		time.Sleep(time.Second)
		list := func() string {
			var lines []string
			for info, err := range p.List(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, fmt.Sprintf("%s %v %d/%d ok %d running %v", info.Name, info.Status, info.Done, info.Total, info.OK, info.Running))
			}
			return strings.Join(lines, "; ")
		}
		if got, want := list(), "r inprocess 4/13 ok 4 running map[Work:8]"; got != want {
			t.Errorf("List() has %s, want %s", got, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var seen []int
		_, err := p.Await(ctx, "r", func(s eventstream.Summary) {
			if seen = append(seen, s.Done); len(seen) == 3 {
				cancel()
			}
		})
		if err == nil || !slices.Equal(seen, []int{4, 4, 4}) {
			t.Errorf("Await() saw %v done, and ended with %v", seen, err)
		}
		if err := p.Cancel(t.Context(), "r", "", "me", "enough"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got, want := list(), "r canceled 13/13 ok 0 running map[]"; got != want {
			t.Errorf("List() after the end has %s, want %s", got, want)
		}
		time.Sleep(2 * time.Hour)
		if got, want := list(), "r canceled 13/13 ok 0 running map[]"; got != want {
			t.Errorf("List() of the archive has %s, want %s", got, want)
		}
		for _, name := range []string{"r/01.00", "r/"} {
			if _, err := p.Start(t.Context(), pl, nil, &processor.StartOptions{Name: name}); !errors.Is(err, processor.ErrName) {
				t.Errorf("Start(%q) = %v, want ErrName", name, err)
			}
			for what, call := range map[string]func() error{
				"Read":   func() error { _, err := p.Read(t.Context(), name); return err },
				"Cancel": func() error { return p.Cancel(t.Context(), name, "", "", "") },
				"Purge":  func() error { _, err := p.Purge(t.Context(), name); return err },
				"Await":  func() error { _, err := p.Await(t.Context(), name, nil); return err },
				"Retry":  func() error { _, err := p.Retry(t.Context(), name, nil); return err },
			} {
				if err := call(); !errors.Is(err, processor.ErrName) {
					t.Errorf("%s(%q) = %v, want ErrName", what, name, err)
				}
			}
		}
	})
}

// A worker for one run alone sees its children, and only those.
func TestWide_WorkerForOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := squares(t, square)
		p.start(pl, "r", 12)
		p.start(pl, "r.x", 12)
		other := w.process(nil)
		other.work(&processor.WorkOptions{Only: []string{"r"}, Slots: 1}, pl)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
		time.Sleep(time.Minute)
		if got := p.stream("r.x").Progress(); got.Total != 1 {
			t.Errorf("the other run is at %+v, want it left alone", got)
		}
	})
}

func TestWide_RetryFromTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil) // a local one would be polled hundreds of thousands of times
		var broken atomic.Bool
		broken.Store(true)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if broken.Load() && strings.HasPrefix(task.Event, "02.00/") {
				return processor.Abort("broken"), nil
			}
			return square(ctx, task)
		})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 12), eventstream.Completed, true, "320")
		time.Sleep(2 * time.Hour)
		if open, archived := w.blobs("streams/"), w.blobs("archive/"); len(open) != 0 || len(archived) != 4 {
			t.Fatalf("after two hours open: %q, archived: %q", open, archived)
		}
		broken.Store(false)
		if _, err := p.Retry(t.Context(), "r", nil); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "650")
		if open, archived := w.blobs("streams/"), w.blobs("archive/"); len(open) != 2 || len(archived) != 2 {
			t.Errorf("after the retry open: %q, archived: %q", open, archived)
		}
		time.Sleep(2 * time.Hour)
		if open, archived := w.blobs("streams/"), w.blobs("archive/"); len(open) != 0 || len(archived) != 4 {
			t.Errorf("after two hours more open: %q, archived: %q", open, archived)
		}
	})
}

// A limit of the run holds over all of its child streams, whether it stands in the
// pipeline or was changed while the run goes on.
func TestWide_Limits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var running, most atomic.Int32
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: numbers(30, "all")},
			processor.Step{Name: "Work", RunConcurrency: 4, Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Second)
				return processor.Complete(1), nil
			}},
			processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
		)
		p := w.process(nil)
		p.work(&processor.WorkOptions{Slots: 20}, pl)
		p.start(pl, "r", nil)
		time.Sleep(3500 * time.Millisecond)
		// One worker knows what it runs itself; until the first listing it does not
		// know that there are children.
		if n := most.Load(); n > 4 {
			t.Errorf("%d branches ran at a time, want 4", n)
		}
		if err := p.SetLimit(t.Context(), "r", "Work", 2, "me"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		most.Store(0)
		time.Sleep(4 * time.Second)
		if n := most.Load(); n != 2 {
			t.Errorf("after the change %d branches ran at a time, want 2", n)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "30")
	})
}
