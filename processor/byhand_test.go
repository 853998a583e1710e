package processor_test

import (
	"context"
	"encoding/json"
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

// Whatever is done to a run, a thread or an event by hand ends as the call does that
// is meant for it.
func TestByHand_EndsAsTheCall(t *testing.T) {
	open := []place{theRun, theWaiting, theThread, theSecond, theRunning, theBranches}
	for _, c := range []struct {
		name   string
		places []place
		call   func(p *process, at string) error
		hand   func(line string) string
	}{
		{"cancel", open, func(p *process, at string) error {
			return p.Cancel(context.Background(), "r", at, "ann", "enough")
		}, status("canceled")},
		{"abort", open, func(p *process, at string) error {
			return p.Abort(context.Background(), "r", at, "ann", "enough")
		}, status("aborted")},
		{"skip", open, func(p *process, at string) error {
			return p.Skip(context.Background(), "r", at, "ann", "not needed")
		}, status("completed")},
		{"complete", []place{theWaiting, theSecond}, func(p *process, at string) error {
			return p.Complete(context.Background(), "r", at, json.RawMessage("50"), "ann")
		}, inTurn(status("completed"), withOutput("50"))},
		{"retry", []place{theFailed}, func(p *process, at string) error {
			_, err := p.Retry(context.Background(), "r", &processor.RetryOptions{From: at})
			return err
		}, inTurn(status("init"), unset("key"))},
	} {
		eachPlace(t, c.name, c.places, func(t *testing.T, of place, wide bool) {
			var want, got string
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, wide)
				if err := c.call(g.p, g.address(of)); err != nil {
					t.Fatal(err)
				}
				want = g.end()
			})
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, wide)
				g.change(of, c.hand)
				got = g.end()
			})
			if got != want {
				t.Errorf("by hand the run ended\n%s\nby the call\n%s", got, want)
			}
		})
	}
}

// steering is a way to pause and to resume.
type steering struct {
	name          string
	pause, resume func(g *stage, of place)
}

func steerings() []steering {
	pauseByHand := func(value string) func(g *stage, of place) {
		return func(g *stage, of place) { g.changePaused(of, set("paused", value)) }
	}
	resumeByHand := func(g *stage, of place) { g.changePaused(of, unset("paused")) }
	pause := func(g *stage, of place) {
		if err := g.p.Pause(g.w.t.Context(), "r", g.address(of), "ann", "lunch"); err != nil {
			g.w.t.Errorf("Pause(%s) = %v", of, err)
		}
	}
	resume := func(g *stage, of place) {
		if err := g.p.Resume(g.w.t.Context(), "r", g.address(of)); err != nil {
			g.w.t.Errorf("Resume(%s) = %v", of, err)
		}
	}
	return []steering{
		{"by hand", pauseByHand("2000-01-01T00:00:05.000Z"), resumeByHand},
		{"by hand, without a time", pauseByHand("true"), resumeByHand},
		{"by hand, and back by call", pauseByHand("2000-01-01T00:00:05.000Z"), resume},
		{"by hand, without a time, and back by call", pauseByHand("yes"), resume},
		{"by call, and back by hand", pause, resumeByHand},
		{"by call", pause, resume},
	}
}

// changePaused changes the attribute where it stands: a run has it on its root
// element.
func (g *stage) changePaused(of place, f func(element string) string) {
	if of == theRun {
		hand{g.w}.changeTag(f)
		return
	}
	g.change(of, f)
}

// However a run, a thread or an event is paused and resumed, nothing below is claimed
// meanwhile, all else goes on, and then so does it.
func TestByHand_PauseAndResume(t *testing.T) {
	for _, how := range steerings() {
		for _, c := range []struct {
			of    place
			after time.Duration // from the start
			step  int           // of what stands still
			only  []int         // branches of it
		}{
			{theRun, 5 * time.Second, 0, []int{1, 2, 3, 4}},
			{theRun, 15 * time.Second, 1, []int{1, 2, 3, 4}},
			{theWaiting, 5 * time.Second, 0, []int{1}},
			{theThread, 5 * time.Second, 0, []int{2}},
			{theThread, 15 * time.Second, 1, []int{2}},
			{theSecond, 15 * time.Second, 1, []int{2}},
			{theBranches, 5 * time.Second, 0, []int{1, 2}},
			{theBranches, 15 * time.Second, 1, []int{1, 2}},
		} {
			eachPlace(t, fmt.Sprintf("%s after %v", how.name, c.after), []place{c.of}, func(t *testing.T, of place, wide bool) {
				synctest.Test(t, func(t *testing.T) {
					g := newDelayedStage(t, wide)
					time.Sleep(c.after)
					how.pause(g, of)
					time.Sleep(time.Minute)
					var want []string
					for _, branch := range c.only {
						want = append(want, g.at(branch, c.step))
					}
					if got := g.unclaimed(); !slices.Equal(got, want) {
						t.Errorf("a minute later %q wait for a worker, want %q", got, want)
					}
					how.resume(g, of)
					begin := time.Now()
					wantEnd(t, g.w.awaitWithin(g.p, time.Hour), eventstream.Completed, false, "30")
					if took := time.Since(begin); took > 15*time.Second {
						t.Errorf("once resumed it took %v, want the delay of a step at most, and a sweep", took)
					}
				})
			})
		}
	}
}

// A handler that runs when its event is paused by hand is left to finish, and what
// it gives counts.
func TestByHand_PauseLetsHandlersFinish(t *testing.T) {
	for _, of := range []place{theRun, theRunning} {
		for _, wide := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, wide)
				g.changePaused(of, set("paused", "true"))
				time.Sleep(3 * time.Minute)
				_, e, err := g.p.Event(t.Context(), "r", g.address(theRunning))
				if err != nil {
					t.Fatal(err)
				}
				if output, _ := e.Output(); e.Status() != eventstream.Completed || string(output.JSON) != "3" {
					t.Errorf("%s paused, wide %t: the handler's event is %v with %s, want completed with 3", of, wide, e.Status(), output.JSON)
				}
			})
		}
	}
}

// What waits below a pause that a hand has set does not time out, and when it is
// resumed by the call gets the time of the pause back. A hand that takes the pause
// away takes with it since when it was, and gives nothing back.
func TestByHand_PauseStopsTheClock(t *testing.T) {
	for _, how := range steerings() {
		if !strings.HasSuffix(how.name, "by call") {
			continue
		}
		eachPlace(t, how.name, []place{theRun, theWaiting}, func(t *testing.T, of place, wide bool) {
			synctest.Test(t, func(t *testing.T) {
				g := newWaitingStage(t, wide)
				attempt := func() int {
					_, e, err := g.p.Event(t.Context(), "r", g.address(theWaiting))
					if err != nil {
						t.Fatal(err)
					}
					return e.Attempt()
				}
				time.Sleep(5 * time.Second)
				how.pause(g, of)
				time.Sleep(20 * time.Minute)
				how.resume(g, of)
				time.Sleep(9 * time.Minute)
				if n := attempt(); n != 1 {
					t.Errorf("before the timeout, pause left out, there were %d attempts", n)
				}
				time.Sleep(2 * time.Minute)
				if n := attempt(); n != 2 {
					t.Errorf("after the timeout there were %d attempts, want a second one", n)
				}
			})
		})
	}
}

// A hand changes one of the marks by which the claim of a handler is known. What the
// handler gives is refused, even if it comes at once, and the event runs again.
func TestByHand_ClaimMadeAnother(t *testing.T) {
	for name, change := range map[string]func(text string) string{
		"worker":  event("02.00", set("key", "somebody-else")),
		"attempt": event("02.00", set("attempt", "7")),
		"time":    event("02.00", set("started", "2000-01-01T00:00:00.500Z")),
		"run":     set("run", "another"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var attempts atomic.Int32
				g := newGate("02.00", -1000)
				pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					if task.Event == "02.00" && attempts.Add(1) > 1 {
						return square(ctx, task)
					}
					return g.handle(ctx, task)
				})
				p := w.process(nil)
				p.work(nil, pl)
				p.start(pl, "r", 3)
				<-g.began
				time.Sleep(time.Second)
				hand{w}.change("r", func(text string) string {
					root := strings.Index(text, "<EventStream")
					if name == "run" {
						return text[:root] + change(text[root:])
					}
					return change(text)
				})
				close(g.open)
				wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "14")
				if attempts.Load() != 2 {
					t.Errorf("the event was worked on %d times, want once more", attempts.Load())
				}
			})
		})
	}
}

// A hand that takes the key of an event that is worked on stops the handler, and
// leaves the event to whoever completes it.
func TestByHand_KeyRemoved(t *testing.T) {
	for _, wide := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newStage(t, wide)
			g.change(theRunning, unset("key"))
			time.Sleep(10 * time.Minute)
			at := g.address(theRunning)
			_, e, err := g.p.Event(t.Context(), "r", at)
			if err != nil || !e.Waiting() || e.Attempt() != 1 {
				t.Fatalf("the event without a key is %v, waiting %t, attempt %d, %v; want it to wait for someone outside", e.Status(), e.Waiting(), e.Attempt(), err)
			}
			g.change(theRunning, inTurn(status("completed"), withOutput("30")))
			if got, _, _ := strings.Cut(g.end(), "\n"); got != "completed true 230" {
				t.Errorf("the run ended %s", got)
			}
		})
	}
}

// A status that there is not makes the document one that cannot be read: nothing is
// written over it, all other runs go on, and so does this one when it is mended.
func TestByHand_UnknownStatus(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for _, of := range []place{theRun, theWaiting, theRunning} {
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, wide)
				g.change(of, status("done"))
				at := g.address(of)
				doc := "r"
				if i := strings.LastIndexByte(at, '/'); i >= 0 {
					doc = "r/" + at[:i]
				}
				broken := g.w.get(processor.BlobOf(doc))
				if err := g.p.Cancel(t.Context(), "r", at, "ann", ""); !errors.Is(err, eventstream.ErrMalformed) {
					t.Errorf("Cancel(%s) = %v, want ErrMalformed", of, err)
				}
				time.Sleep(10 * time.Minute)
				if now := g.w.get(processor.BlobOf(doc)); now.ETag != broken.ETag {
					t.Fatalf("the document was written over:\n%s", now.Body)
				}
				g.p.start(squares(t, square), "other", 3)
				g.p.work(nil, squares(t, square))
				wantEnd(t, g.p.await("other"), eventstream.Completed, false, "14")
				g.change(of, func(line string) string { return strings.Replace(line, `status="done"`, `status="inprocess"`, 1) })
				if got, _, _ := strings.Cut(g.end(), "\n"); got != "completed true 203" {
					t.Errorf("%s mended, wide %t: the run ended %s", of, wide, got)
				}
			})
		}
	}
}

// A hand opens a run again that has ended: the branch that failed, what is above it,
// and no aggregator any more.
func TestByHand_RunOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStage(t, false)
		if got, _, _ := strings.Cut(g.end(), "\n"); got != "completed true 203" {
			t.Fatalf("the run ended %s", got)
		}
		withoutJoin := func(line string) string { return strings.Replace(line, `|01"`, `"`, 1) }
		hand{g.w}.change("r", inTurn(
			event("01", func(string) string { return "" }),
			event("00", inTurn(status("inprocess"), unset("msg"), withoutJoin)),
			event(g.address(theFailed), inTurn(status("init"), unset("key"))),
		))
		if got, _, _ := strings.Cut(g.end(), "\n"); got != "completed false 207" {
			t.Errorf("the run that was opened again ended %s", got)
		}
	})
}

// An event whose retries are spent, and that a hand puts back to init, has all of them
// again.
func TestByHand_RetryOfWhatIsSpent(t *testing.T) {
	for name, tidy := range map[string]func(string) string{
		"status alone": func(line string) string { return line },
		"and no key":   unset("key"),
		"and no msg":   unset("msg"),
		// As a worker's death leaves it.
		"and no claim": inTurn(unset("key"), unset("started")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.process(nil)
				var attempts atomic.Int32
				pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					switch {
					case task.Event == "01.00":
						return processor.Wait(0), nil
					case task.Event == "02.00" && attempts.Add(1) < 6: // of three and three
						return processor.Outcome{}, errors.New("broken")
					}
					return square(ctx, task)
				})
				p.work(nil, pl)
				p.start(pl, "r", 3)
				time.Sleep(time.Minute)
				if e := p.stream("r").Event("02.00"); e.Status() != eventstream.Aborted || e.Failures() != 3 {
					t.Fatalf("the event is %v after %d failures", e.Status(), e.Failures())
				}
				hand{w}.changeEvent("02.00", inTurn(status("init"), tidy))
				time.Sleep(time.Minute)
				if err := p.Complete(t.Context(), "r", "01.00", json.RawMessage("1"), "ann"); err != nil {
					t.Fatal(err)
				}
				wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "14")
				e := p.stream("r").Event("02.00")
				if e.Attempt() != 6 || e.Failures() != 2 || e.Msg() != "" {
					t.Errorf("the event took %d attempts, %d failures, msg %q; want 6, 2 and none", e.Attempt(), e.Failures(), e.Msg())
				}
			})
		})
	}
}
