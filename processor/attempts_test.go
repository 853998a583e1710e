package processor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// The tests in this file are attempts to lose a branch, to make an aggregator
// twice, or to let a worker write whose event has passed on.

// gate is a handler that works on one event only when it is told to, and looks at
// no context.
type gate struct {
	event string
	began chan struct{} // has a value for each attempt that began
	open  chan struct{}
	gives any
}

func newGate(event string, gives any) *gate {
	return &gate{event, make(chan struct{}, 10), make(chan struct{}), gives}
}

func (g *gate) handle(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
	if t.Event != g.event {
		return square(ctx, t)
	}
	g.began <- struct{}{}
	<-g.open
	return processor.Complete(g.gives), nil
}

// A worker that was cut off reports while another one works on the same event.
func TestAttempt_ZombieReportsWhileAnotherWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		zombie, healthy := newGate("02.00", -1000), newGate("02.00", 4)
		st := &cutStore{Store: w.st}
		old := w.processOn(st, nil)
		old.work(nil, squares(t, zombie.handle))
		old.start(squares(t, square), "r", 3)
		<-zombie.began
		st.cut.Store(true)
		p := w.process(nil)
		p.work(nil, squares(t, healthy.handle))
		<-healthy.began
		st.cut.Store(false)
		close(zombie.open)
		time.Sleep(time.Minute)
		if e := p.stream("r").Event("02.00"); !e.Running() || e.Attempt() != 2 {
			t.Errorf("event 02.00 is %v, attempt %d; want the second attempt at work", e.Status(), e.Attempt())
		}
		close(healthy.open)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
	})
}

// Many workers begin under one ID at the same moment, and again after deaths.
func TestAttempt_ManyWorkersOfOneID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(100 * time.Millisecond)
			return square(ctx, task)
		})
		for range 5 {
			w.process(nil).work(&processor.WorkOptions{ID: "twin", Slots: 2}, pl)
		}
		p := w.process(nil)
		wantEnd(t, p.run(pl, "r", 50), eventstream.Completed, false, "42925")
		keys := map[string]bool{}
		for e := range p.stream("r").Events() {
			if e.Attempt() != 1 {
				t.Errorf("event %s was claimed %d times", e.ID(), e.Attempt())
			}
			keys[e.Key()] = true
		}
		if len(keys) != 5 || len(w.blobs("workers/")) != 5 {
			t.Errorf("the work was done as %v of %q, want five IDs", keys, w.blobs("workers/"))
		}
	})
}

// A handler ends at the very moment of its timeout, a little before and a little
// after, at its own worker and with the sweep of another.
func TestAttempt_CompletionRacesTheTimeout(t *testing.T) {
	const timeout = 10 * time.Second
	for _, after := range []time.Duration{0, 400 * time.Millisecond, 2 * time.Second} { // the sweep comes after two polls
		for off := -3 * time.Millisecond; off <= 3*time.Millisecond; off += time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var zeroAttempts atomic.Int32
				steps := threeWays(func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					if task.Event == "02.00" && task.Attempt == 1 {
						zeroAttempts.Add(1)
						time.Sleep(timeout + after + off)
					}
					return square(ctx, task)
				}, all, 0)
				steps[1].Timeout = timeout
				pl := pipeline(t, steps...)
				p, other := w.process(nil), w.process(nil)
				p.work(nil, pl)
				p.start(pl, "r", 3)
				time.Sleep(time.Second)
				other.work(nil, pl)
				wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
				time.Sleep(time.Minute)
				s := p.stream("r")
				checkEnded(t, s)
				if e := s.Event("02.00"); e.Attempt() != e.Failures()+1 || zeroAttempts.Load() != 1 {
					t.Errorf("%v after the timeout: %d attempts, %d failures", after+off, e.Attempt(), e.Failures())
				}
			})
		}
	}
}

// Somebody completes an event that waits at the moment when its wait is over.
func TestAttempt_AnswerRacesTheEndOfTheWait(t *testing.T) {
	for off := -100 * time.Millisecond; off <= 4*time.Second; off += 100 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			p := newWorld(t).process(nil)
			pl := pipeline(t, processor.Step{Name: "Ask", Retry: processor.Retry{Attempts: 2}, Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				if task.Attempt == 2 {
					return processor.Complete("none came"), nil
				}
				return processor.Wait(time.Minute), nil
			}})
			p.work(nil, pl)
			p.start(pl, "r", nil)
			time.Sleep(time.Minute + off)
			err := p.Complete(t.Context(), "r", "00", json.RawMessage(`"yes"`), "ann")
			want := `"yes"`
			if err != nil {
				want = `"none came"`
			}
			wantEnd(t, p.await("r"), eventstream.Completed, false, want)
		})
	}
}

// Somebody cancels a run, or one branch of it, when the last branch ends.
func TestAttempt_CancelRacesTheLastBranch(t *testing.T) {
	for _, at := range []string{"", "03.*", "01"} {
		for off := range 12 {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				p, other := w.process(nil), w.process(nil)
				pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					time.Sleep(time.Second)
					return square(ctx, task)
				})
				p.work(nil, pl)
				p.start(pl, "r", 3)
				time.Sleep(time.Second + time.Duration(off-6)*200*time.Microsecond)
				canceled := other.Cancel(t.Context(), "r", at, "ann", "enough")
				end := p.await("r")
				s := p.stream("r")
				checkEnded(t, s)
				if sum := string(end.Output); canceled == nil && at == "03.*" && sum != "5" || canceled != nil && sum != "14" {
					t.Errorf("Cancel(%q) = %v, and the run gave %s (%v)", at, canceled, end.Output, end.Status)
				}
				if canceled == nil && at == "" && end.Status != eventstream.Canceled {
					t.Errorf("Cancel() succeeded, and the run is %v", end.Status)
				}
			})
		}
	}
}

// A branch that failed is retried while the aggregator, which has counted it as
// failed, works.
func TestAttempt_RetryWhileTheAggregatorWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		open := make(chan struct{})
		var sums atomic.Int32
		steps := threeWays(onceMore, all, 0)
		steps[2].Handler = func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if sums.Add(1) == 1 {
				<-open // whatever becomes of the event
			}
			return processor.Aggregate(sum)(ctx, task)
		}
		pl := pipeline(t, steps...)
		p.work(nil, pl)
		p.start(pl, "r", 3)
		time.Sleep(time.Second)
		if _, err := p.Retry(t.Context(), "r", &processor.RetryOptions{Input: json.RawMessage("7")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		close(open)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "59")
		time.Sleep(time.Minute)
		s := p.stream("r")
		checkEnded(t, s)
		if old := s.Event("01"); !old.Superseded() || sums.Load() != 2 {
			t.Errorf("the first aggregator is %v, superseded %t, of %d; want it replaced", old.Status(), old.Superseded(), sums.Load())
		}
	})
}

// Somebody breaks a worker's lease by hand while it is healthy.
func TestAttempt_WorkerLeaseBrokenByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := newGate("02.00", -1000)
		old := w.process(nil)
		old.work(nil, squares(t, first.handle))
		old.start(squares(t, square), "r", 3)
		<-first.began
		p := w.process(nil)
		p.work(nil, squares(t, square))
		for _, blob := range w.blobs("workers/") {
			if _, err := w.st.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseBreak}); err != nil {
				t.Fatal(err)
			}
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		close(first.open)
		time.Sleep(time.Minute)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
		if n := len(w.blobs("workers/")); n < 2 {
			t.Errorf("%d workers, want both back under leases of their own", n)
		}
	})
}

// skewed is a store whose clock is wrong by an hour, and tells whole seconds.
type skewed struct {
	store.Store
	by time.Duration
}

func (skewed) Local() bool { return false }

func (s skewed) info(i *store.Info) *store.Info {
	if i == nil {
		return nil
	}
	c := *i
	c.Date = store.Date{Time: time.Now().Add(s.by).Truncate(time.Second), Resolution: time.Second}
	c.Created, c.LastModified = c.Created.Add(s.by), c.LastModified.Add(s.by)
	return &c
}

func (s skewed) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	o, err := s.Store.Get(ctx, name, c)
	if err != nil {
		return nil, err
	}
	shifted := *o
	shifted.Info = *s.info(&o.Info)
	return &shifted, nil
}

func (s skewed) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	i, err := s.Store.Put(ctx, name, body, o)
	return s.info(i), err
}

func (s skewed) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	i, err := s.Store.Stat(ctx, name, c)
	return s.info(i), err
}

func (s skewed) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	res, err := s.Store.Lease(ctx, name, r)
	if err != nil {
		return nil, err
	}
	shifted := *res
	shifted.Date = s.info(&store.Info{}).Date
	shifted.LastModified = shifted.LastModified.Add(s.by)
	return &shifted, nil
}

func (s skewed) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for i, err := range s.Store.List(ctx, prefix) {
			if !yield(s.info(i), err) {
				return
			}
		}
	}
}

// The hosts' clocks are an hour off, and the store tells whole seconds: delays and
// timeouts are as long as ever, and no time in the document is before an earlier
// one.
func TestAttempt_ClocksThatAreWrong(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var began sync.Map
			steps := threeWays(func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				began.Store(task.Event, time.Now())
				if task.Event == "02.00" && task.Attempt == 1 {
					return processor.Wait(30 * time.Second), nil
				}
				return square(ctx, task)
			}, all, 0)
			steps[1].Delay = 10 * time.Second
			steps[1].Timeout = 20 * time.Second
			pl := pipeline(t, steps...)
			for range 2 {
				w.processOn(skewed{w.st, by}, nil).work(nil, pl)
			}
			p := w.processOn(skewed{w.st, by}, nil)
			begin := time.Now()
			wantEnd(t, p.run(pl, "r", 3), eventstream.Completed, false, "14")
			first, _ := began.Load("01.00")
			if took := first.(time.Time).Sub(begin); took < 8*time.Second || took > 45*time.Second {
				t.Errorf("the delay of 10 s took %v", took)
			}
			if took := time.Since(begin); took < 38*time.Second || took > 3*time.Minute {
				t.Errorf("the run took %v, want a delay, a wait and a sweep", took)
			}
			for e := range p.stream("r").Events() {
				if prev := e.Prev(); prev != nil && e.Time("created").Before(prev.Time("created")) {
					t.Errorf("event %s was created at %v, before the one it follows", e.ID(), e.Time("created"))
				}
			}
		})
	}
}

// Somebody puts an older copy of the document in place while the run goes on: from
// a backup, say. What was done since runs again, and nothing is lost.
func TestAttempt_OlderCopyPutBack(t *testing.T) {
	for _, withMetadata := range []bool{false, true} {
		for at := range 8 {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					time.Sleep(time.Second)
					return square(ctx, task)
				})
				p, other := w.process(nil), w.process(nil)
				p.start(pl, "r", 8)
				p.work(&processor.WorkOptions{Slots: 2}, pl)
				other.work(&processor.WorkOptions{Slots: 2}, pl)
				time.Sleep(time.Duration(at)*300*time.Millisecond + 50*time.Millisecond)
				backup := w.get("streams/r.xml")
				time.Sleep(1500 * time.Millisecond)
				w.putBack(backup, withMetadata)
				wantEnd(t, w.awaitWithin(p, 10*time.Minute), eventstream.Completed, false, "204")
				checkEnded(t, p.stream("r"))
			})
		}
	}
}

func (w *world) get(blob string) *store.Object {
	w.t.Helper()
	object, err := w.st.Get(context.Background(), blob, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return object
}

// putBack writes a document past everybody, as soon as nobody has its lease.
func (w *world) putBack(object *store.Object, withMetadata bool) {
	w.t.Helper()
	o := &store.PutOptions{ContentType: object.ContentType}
	if withMetadata {
		o.Metadata = object.Metadata
	}
	for {
		_, err := w.st.Put(context.Background(), "streams/r.xml", object.Body, o)
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrLeaseMissing) {
			w.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func (w *world) awaitWithin(p *process, d time.Duration) *processor.End {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	end, err := p.Await(ctx, "r", nil)
	if err != nil {
		w.t.Fatalf("Await() = %v\n%s", err, w.get("streams/r.xml").Body)
	}
	return end
}

// Somebody deletes the document and starts another run of the same name while a
// handler of the first works.
func TestAttempt_NameUsedAgainWhileAHandlerWorks(t *testing.T) {
	for _, again := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			stopped := make(chan error, 3)
			var first atomic.Bool
			first.Store(true)
			pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				if first.Load() {
					<-ctx.Done()
					stopped <- context.Cause(ctx)
					return processor.Complete(-1000), nil
				}
				return square(ctx, task)
			})
			p, other := w.process(nil), w.process(nil)
			p.work(nil, pl)
			p.start(pl, "r", 3)
			time.Sleep(time.Second)
			first.Store(false)
			if err := w.st.Delete(t.Context(), "streams/r.xml", nil); err != nil {
				t.Fatal(err)
			}
			if again {
				other.start(pl, "r", 3)
			}
			begin := time.Now()
			for range 3 {
				if cause := <-stopped; !errors.Is(cause, processor.ErrCanceled) {
					t.Errorf("the handler ended with %v, want ErrCanceled", cause)
				}
			}
			if took := time.Since(begin); took > 400*time.Millisecond {
				t.Errorf("the handlers were stopped after %v, want two polls at most", took)
			}
			if again {
				wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
			} else if _, err := p.Read(t.Context(), "r"); !errors.Is(err, processor.ErrNoRun) {
				t.Errorf("Read() = %v, want ErrNoRun: what was deleted came back", err)
			}
		})
	}
}

// moment is the nth call of a store, before which something else happens.
type moment struct {
	n     int
	other atomic.Pointer[func()] // what happens
	came  atomic.Bool
	ended chan struct{} // closed when it has happened
}

// hook goes on as soon as the other thing is done, or waits for something itself.
func (m *moment) hook(c storetest.Call) (bool, error) {
	if other := m.other.Load(); c.N == m.n && other != nil {
		m.came.Store(true)
		go func() { defer close(m.ended); (*other)() }()
		select {
		case <-m.ended:
		case <-time.After(time.Second):
		}
	}
	return true, nil
}

func (m *moment) set(other func()) (wait func()) {
	m.other.Store(&other)
	return m.wait
}

func (m *moment) wait() {
	if m.came.Load() {
		<-m.ended
	}
}

// eachMoment plays a scene once for each call of a store that it makes: meanwhile
// says what else is to happen before that call, and returns how to wait for it.
func eachMoment(t *testing.T, scene func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func()))) {
	t.Helper()
	came := true
	for n := 1; came && !t.Failed(); n++ {
		synctest.Test(t, func(t *testing.T) {
			m := &moment{n: n, ended: make(chan struct{})}
			w := newWorld(t)
			scene(t, w, storetest.NewFaults(w.st, m.hook), m.set)
			came = m.came.Load()
			m.wait()
			if t.Failed() {
				t.Logf("at call %d", n)
			}
		})
	}
}

// endedBadly runs a pipeline whose second branch fails unless it is retried with
// another message, and lets its worker go on.
func endedBadly(t *testing.T, p *process) *processor.Pipeline {
	t.Helper()
	pl := pipeline(t, threeWays(onceMore, all, 0)...)
	p.work(nil, pl)
	wantEnd(t, p.run(pl, "r", 3), eventstream.Completed, true, "10")
	return pl
}

// A run is retried at each moment of its being purged, from where it ran or from
// the archive: either the retry is refused, or the run ends well.
func TestAttempt_PurgeRacesRetry(t *testing.T) {
	for _, rest := range []time.Duration{0, 2 * time.Hour} {
		eachMoment(t, func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func())) {
			p := w.processOn(slowStore{w.st}, nil)
			endedBadly(t, p)
			time.Sleep(rest)
			var retried error
			wait := meanwhile(func() {
				_, retried = p.Retry(t.Context(), "r", &processor.RetryOptions{Input: json.RawMessage("7")})
			})
			_, purged := w.processOn(hooked, nil).Purge(t.Context(), "r")
			wait()
			switch {
			case purged == nil && retried == nil && len(w.blobs("streams/")) > 0:
				t.Error("both the purge and the retry succeeded, and the run is there")
			case purged != nil:
				wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "59")
			case !errors.Is(retried, processor.ErrNoRun) && retried != nil:
				t.Errorf("Retry() of a run that is purged = %v", retried)
			}
		})
	}
}

// The purge dies at each call, and a retry comes then: it must not succeed on a run
// that is half gone.
func TestAttempt_RetryOfAHalfPurgedRun(t *testing.T) {
	for n := range int32(8) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			endedBadly(t, p)
			st := &stopStore{cutStore: cutStore{Store: w.st}}
			st.left.Store(n)
			dying := w.processOn(st, nil)
			retried := make(chan error, 1)
			var once sync.Once
			hooked := storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
				if c.Op == "acquire" { // the retry has found the run; now the purge begins
					once.Do(func() { _, _ = dying.Purge(t.Context(), "r") })
				}
				return true, nil
			})
			other := w.processOn(hooked, nil)
			go func() {
				_, err := other.Retry(t.Context(), "r", &processor.RetryOptions{Input: json.RawMessage("7")})
				retried <- err
			}()
			if err := <-retried; err == nil {
				wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "59")
			} else if !errors.Is(err, processor.ErrNoRun) {
				t.Errorf("the purge died after %d writes: Retry() = %v", n, err)
			}
		})
	}
}

// A run is started at each moment of the purge of the one that had its name.
func TestAttempt_PurgeRacesStart(t *testing.T) {
	eachMoment(t, func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func())) {
		p := w.process(nil)
		big := strings.Repeat("x", 10_000)
		pl := pipeline(t, processor.Step{Name: "A", Handler: processor.Func(func(_ context.Context, s string) (int, error) { return len(s), nil })})
		p.work(nil, pl)
		before := p.start(pl, "r", big)
		p.await("r")
		var run *processor.Run
		wait := meanwhile(func() { run = p.start(pl, "r", big) })
		_, err := w.processOn(hooked, nil).Purge(t.Context(), "r")
		wait()
		if err != nil && run == nil {
			t.Errorf("Purge() = %v", err)
		}
		if run == nil || run.ID == before.ID {
			return // it was found, and then purged
		}
		wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "10000")
		for _, blob := range w.blobs("payload/") {
			if strings.Contains(blob, before.ID) {
				t.Errorf("payload %q of the purged run is left", blob)
			}
		}
	})
}

// A run is retried at each moment of its being moved to the archive.
func TestAttempt_ArchiveRacesRetry(t *testing.T) {
	eachMoment(t, func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func())) {
		p := w.process(nil)
		pl := endedBadly(t, p)
		p.stop() // whoever sweeps from now on is the one that is hooked
		p.done.Wait()
		time.Sleep(2 * time.Hour)
		wait := meanwhile(func() {
			_, err := p.Retry(t.Context(), "r", &processor.RetryOptions{Input: json.RawMessage("7")})
			if err != nil {
				t.Errorf("Retry() = %v", err)
			}
		})
		q := w.processOn(slowStore{hooked}, nil)
		q.work(nil, pl)
		time.Sleep(2 * time.Minute)
		q.stop()
		q.done.Wait()
		wait()
		p.work(nil, pl)
		if p.stream("r").Event("02.00").Attempt() == 1 {
			return // the moment never came
		}
		wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "59")
		if n := len(w.blobs("streams/")) + len(w.blobs("archive/")); n != 1 {
			t.Errorf("the run lies in %d places", n)
		}
	})
}

// Two workers sweep at once, since somebody breaks the lease for it again and
// again: a death counts once all the same.
func TestAttempt_TwoSweepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		hang := squares(t, func(ctx context.Context, _ *processor.Task) (processor.Outcome, error) {
			<-ctx.Done()
			return processor.Outcome{}, ctx.Err()
		})
		p := w.process(nil)
		p.start(hang, "r", 20)
		cut := cutOff(w, hang)
		time.Sleep(time.Second)
		cut()
		pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			time.Sleep(time.Second)
			return square(ctx, task)
		})
		for range 4 {
			w.process(nil).work(&processor.WorkOptions{Slots: 2}, pl)
		}
		ctx, stop := context.WithCancel(t.Context())
		var breaker sync.WaitGroup
		breaker.Go(func() {
			for ctx.Err() == nil {
				_, _ = w.st.Lease(ctx, "locks/sweep", &store.LeaseRequest{Action: store.LeaseBreak})
				time.Sleep(500 * time.Millisecond)
			}
		})
		wantEnd(t, p.await("r"), eventstream.Completed, false, "2870")
		stop()
		breaker.Wait()
		for e := range p.stream("r").Events() {
			if e.Failures() > 1 || e.Attempt() > 2 || len(e.Attempts()) != e.Failures() {
				t.Errorf("event %s: %d attempts, %d failures; want the death counted once", e.ID(), e.Attempt(), e.Failures())
			}
		}
	})
}

// awayStore is the hook of a store that is away for a minute from its nth call on.
type awayStore struct {
	n      int
	form   form        // of the first call
	counts atomic.Bool // calls count

	mu    sync.Mutex // guards the fields below
	calls int
	since time.Time
}

func (a *awayStore) hook(storetest.Call) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts.Load() {
		a.calls++
	}
	switch {
	case a.calls < a.n || a.calls > a.n && time.Since(a.since) > time.Minute:
		return true, nil
	case a.since.IsZero():
		a.since = time.Now()
		return a.form == unanswered, errCut
	}
	return false, errCut
}

// Answers of the store are lost while handlers report, in both forms, but nobody
// dies: what is not known is settled, by the same worker.
func TestAttempt_StoreAwayForAMinute(t *testing.T) {
	for _, pl := range plots[:8] {
		want := undisturbed(t, pl)
		for _, f := range []form{lost, unanswered} {
			for n := 1; n < 60; n++ {
				if !sampled() {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					st := &awayStore{n: n, form: f}
					p := w.processOn(storetest.NewFaults(w.st, st.hook), nil)
					steps := pipeline(t, pl.steps...)
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					p.work(nil, steps)
					time.Sleep(time.Second) // until the worker is there
					st.counts.Store(true)
					var err error
					for err = pl.play(ctx, p, steps); err != nil && errIsCut(err); err = pl.play(ctx, p, steps) {
						time.Sleep(time.Second)
					}
					if err != nil {
						t.Fatalf("%s, call %d %s: play = %v\n%s", pl.name, n, f, err, w.get("streams/r.xml").Body)
					}
					c := &crash{w: w, plot: pl}
					if got := c.final(); got != want {
						t.Errorf("%s, call %d %s: the end is\n%s\nwant\n%s", pl.name, n, f, got, want)
					}
				})
			}
		}
	}
}

// byHand changes the document as text, past everybody.
func (w *world) byHand(replace ...string) {
	w.t.Helper()
	for {
		object := w.get("streams/r.xml")
		body := []byte(strings.NewReplacer(replace...).Replace(string(object.Body)))
		if bytes.Equal(body, object.Body) {
			w.t.Fatalf("%q is not in the document\n%s", replace[0], body)
		}
		_, err := w.st.Put(context.Background(), "streams/r.xml", body, &store.PutOptions{Conditions: store.Conditions{IfMatch: object.ETag}})
		if err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// line is the line of an event in the document.
func (w *world) line(id string) string {
	w.t.Helper()
	for line := range strings.Lines(string(w.get("streams/r.xml").Body)) {
		if strings.HasPrefix(line, fmt.Sprintf("<Event id=%q", id)) {
			return line
		}
	}
	w.t.Fatalf("no event %s", id)
	return ""
}

// A hand changes the document while the run goes on. The branches wait to be
// completed; one handler, of 03.00, works.
func TestAttempt_HandEdits(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(w *world)
		want string
		// stops tells that the handler has to be stopped.
		stops bool
	}{
		"branch completed": {func(w *world) {
			old := w.line("01.00")
			w.byHand(old, strings.Replace(strings.Replace(old, `status="inprocess"`, `status="completed"`, 1), `</Event>`, `<Output>50</Output></Event>`, 1))
		}, "completed false 153", false},
		"branch canceled": {func(w *world) {
			old := w.line("01.00")
			w.byHand(old, strings.Replace(old, `status="inprocess"`, `status="canceled"`, 1))
		}, "completed true 103", false},
		"running branch canceled": {func(w *world) {
			old := w.line("03.00")
			w.byHand(old, strings.Replace(old, `status="inprocess"`, `status="canceled"`, 1))
		}, "completed true 200", true},
		"run aborted": {func(w *world) {
			old := w.line("00")
			w.byHand(old, strings.Replace(old, `status="inprocess"`, `status="aborted"`, 1))
		}, "aborted false ", true},
		"branch given back": {func(w *world) {
			old := w.line("03.00")
			w.byHand(old, strings.Replace(old, `status="inprocess"`, `status="init"`, 1))
		}, "completed false 203", true},
		"join taken away": {func(w *world) { w.byHand(` join="Sum"`, ``) }, "completed false ", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				stopped := make(chan time.Time, 5)
				pl := pipeline(t, threeWays(func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					if task.Event != "03.00" {
						return processor.Wait(0), nil
					}
					if task.Attempt > 1 {
						return processor.Complete(3), nil
					}
					select {
					case <-ctx.Done():
						stopped <- time.Now()
						return processor.Outcome{}, ctx.Err()
					case <-time.After(2 * time.Minute):
						return processor.Complete(3), nil
					}
				}, all, 0)...)
				p := w.process(nil)
				p.work(nil, pl)
				p.start(pl, "r", 3)
				time.Sleep(time.Second)
				c.edit(w)
				begin := time.Now()
				if c.stops {
					if took := (<-stopped).Sub(begin); took > 400*time.Millisecond {
						t.Errorf("the handler was stopped after %v, want two polls", took)
					}
				}
				time.Sleep(time.Minute)
				for _, id := range []string{"01.00", "02.00"} {
					err := p.Complete(t.Context(), "r", id, json.RawMessage("100"), "ann")
					if err != nil && !errors.Is(err, eventstream.ErrFinal) {
						t.Errorf("Complete(%s) = %v", id, err)
					}
				}
				end := w.awaitWithin(p, 2*time.Hour)
				if got := fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output); got != c.want {
					t.Errorf("the run ended %s, want %s", got, c.want)
				}
				checkEnded(t, p.stream("r"))
			})
		})
	}
}

// A hand takes the aggregator away that is there already: another one is made.
func TestAttempt_JoinRemovedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		steps := threeWays(square, all, 0)
		var sums atomic.Int32
		steps[2].Handler = func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
			if sums.Add(1) == 1 {
				<-ctx.Done()
				return processor.Outcome{}, ctx.Err()
			}
			return processor.Aggregate(sum)(ctx, task)
		}
		pl := pipeline(t, steps...)
		p := w.process(nil)
		p.work(nil, pl)
		p.start(pl, "r", 3)
		time.Sleep(time.Second)
		w.byHand(w.line("01"), "", "|01\"", "\"")
		wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "14")
		checkEnded(t, p.stream("r"))
		if sums.Load() != 2 {
			t.Errorf("%d aggregators ran, want 2", sums.Load())
		}
	})
}

// A hand doubles an event: nothing of ours writes over such a document, and when
// the hand has mended it the run goes on.
func TestAttempt_EventDoubledByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		g := newGate("02.00", 4)
		pl := squares(t, g.handle)
		p := w.process(nil)
		p.work(nil, pl)
		p.start(pl, "r", 3)
		<-g.began
		time.Sleep(time.Second)
		line := w.line("02.00")
		w.byHand(line, line+line)
		broken := w.get("streams/r.xml")
		close(g.open)
		time.Sleep(5 * time.Minute)
		if now := w.get("streams/r.xml"); now.ETag != broken.ETag {
			t.Fatalf("the document was written over:\n%s", now.Body)
		}
		w.byHand(line+line, line)
		wantEnd(t, w.awaitWithin(p, time.Hour), eventstream.Completed, false, "14")
		checkEnded(t, p.stream("r"))
	})
}

// Splits of which the ids of the branches become wider, and the first and the last
// are at the edge.
func TestAttempt_Widths(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 10, 11, 99, 100, 101, 999, 1000, 1001} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			pl := squares(t, square)
			p, other := w.process(nil), w.process(nil)
			p.work(&processor.WorkOptions{Slots: 100}, pl)
			other.work(&processor.WorkOptions{Slots: 100}, pl)
			wantEnd(t, p.run(pl, "r", n), eventstream.Completed, false, fmt.Sprint(n*(n+1)*(2*n+1)/6))
			s := p.stream("r")
			checkEnded(t, s)
			for e := range s.Events() {
				if e.Attempt() != 1 {
					t.Errorf("%d branches: event %s was claimed %d times", n, e.ID(), e.Attempt())
				}
			}
		})
	}
}

// Eight workers race for one event, over and over: each is claimed once.
func TestAttempt_EightWorkersOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var ran atomic.Int32
		steps := []processor.Step{{Name: "S0", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			if n := ran.Add(1); n < 50 {
				return processor.Next("S0", n).Delay(time.Second), nil
			}
			return processor.Complete("end"), nil
		}}}
		pl := pipeline(t, steps...)
		processes := make([]*process, 8)
		for i := range processes {
			processes[i] = w.process(nil)
			processes[i].work(nil, pl)
		}
		wantEnd(t, processes[0].run(pl, "r", nil), eventstream.Completed, false, `"end"`)
		if ran.Load() != 50 {
			t.Errorf("handlers ran %d times for 50 events", ran.Load())
		}
	})
}

// Two processes end the last two branches at the same moment.
func TestAttempt_LastTwoBranchesAtOnce(t *testing.T) {
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			var sums atomic.Int32
			steps := threeWays(func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)))
				return square(ctx, task)
			}, all, 0)
			steps[2].Handler = func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				sums.Add(1)
				return processor.Aggregate(sum)(ctx, task)
			}
			pl := pipeline(t, steps...)
			processes := []*process{w.process(nil), w.process(nil), w.process(nil)}
			for _, p := range processes {
				p.work(&processor.WorkOptions{Slots: 1}, pl)
			}
			wantEnd(t, processes[0].run(pl, "r", 3), eventstream.Completed, false, "14")
			if sums.Load() != 1 {
				t.Errorf("the aggregator ran %d times", sums.Load())
			}
		})
	}
}
