package processor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope/store"
)

// witness is a store that sees every document become what it is, and says so if one
// step is none that may be.
type witness struct {
	store.Store
	t *testing.T

	mu   sync.Mutex // guards the field below, and the order of writes: none of them sleeps
	seen map[string]*eventstream.Stream
}

func (w *witness) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if !strings.HasPrefix(name, "streams/") {
		return w.Store.Put(ctx, name, body, o)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := w.Store.Put(ctx, name, body, o)
	if err != nil {
		return info, err
	}
	now, err := eventstream.Parse(body)
	if err != nil {
		w.t.Errorf("%s was written as %s: %v", name, body, err)
		return info, nil
	}
	if before := w.seen[name]; before != nil {
		w.compare(name, before, now)
	}
	w.seen[name] = now
	return info, nil
}

// compare checks what must hold from one version of a document to the next, as long
// as nobody retries: no event goes, what is final stays as it is, no attempt is taken
// back, and no split gets a second aggregator.
func (w *witness) compare(name string, before, now *eventstream.Stream) {
	joins := map[string]string{}
	for e := range now.Events() {
		if !e.IsJoin() {
			continue
		}
		if other := joins[e.Prev().ID()]; other != "" {
			w.t.Errorf("%s: split %s has aggregators %s and %s", name, e.Prev().ID(), other, e.ID())
		}
		joins[e.Prev().ID()] = e.ID()
	}
	for was := range before.Events() {
		e := now.Event(was.ID())
		switch {
		case e == nil:
			w.t.Errorf("%s: event %s is gone", name, was.ID())
		case e.Attempt() < was.Attempt():
			w.t.Errorf("%s: event %s went from attempt %d back to %d", name, e.ID(), was.Attempt(), e.Attempt())
		case was.Status().Final() && lastWords(e) != lastWords(was):
			w.t.Errorf("%s: event %s ended as %s, and then became %s", name, e.ID(), lastWords(was), lastWords(e))
		}
	}
}

// lastWords are what an event says of how it ended.
func lastWords(e *eventstream.Event) string {
	output, _ := e.Output()
	return fmt.Sprintf("%v, attempt %d, %s%s", e.Status(), e.Attempt(), output.JSON, output.Ref)
}

const (
	stormBranches = 4 // each of which has 3 of its own
	stormWorkers  = 3 // at a time
	stormResult   = "completed false 90"
)

func stormSteps() []processor.Step {
	return []processor.Step{
		patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
			messages := make([]any, stormBranches)
			for i := range messages {
				messages[i] = i + 1
			}
			return processor.Split("Thrice", messages...).Join("Sum"), nil
		}),
		patient("Thrice", func(_ context.Context, t *processor.Task) (processor.Outcome, error) {
			return processor.Split("Slow", t.Input, t.Input, t.Input).Join("Part"), nil
		}),
		patient("Slow", func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
			time.Sleep(time.Second)
			return square(ctx, t)
		}),
		patient("Part", processor.Aggregate(sum)),
		patient("Sum", processor.Aggregate(sum)),
	}
}

// storm is a run of two levels of branches, and workers that die over it.
type storm struct {
	crash
	dice    *rand.Rand
	workers []*mortal
	died    chan *death
	story   []string // the deaths that came
}

// newStorm is over a store that is far, where doorbells save the most.
func newStorm(t *testing.T, seed uint64) *storm {
	w := newWorld(t)
	w.st = &witness{Store: w.st, t: t, seen: map[string]*eventstream.Stream{}}
	dice := rand.New(rand.NewPCG(seed, 2))
	return &storm{
		crash: crash{
			w: w, far: true, network: membus.New(), chaos: seed,
			plot: plot{steps: stormSteps(), want: stormResult, wide: 2 * dice.IntN(2)},
		},
		dice: dice,
		died: make(chan *death, stormWorkers),
	}
}

// blow lets workers die, and others take their places, until so many have died or
// ctx ends. Those that come last stay.
func (s *storm) blow(ctx context.Context, deaths int) {
	for range stormWorkers {
		s.enter(s.nextDeath())
	}
	for range deaths {
		select {
		case d := <-s.died:
			s.story = append(s.story, d.String())
			time.Sleep(time.Duration(s.dice.IntN(20)) * time.Second)
			s.enter(s.nextDeath())
		case <-ctx.Done():
			return
		}
	}
	for range stormWorkers {
		s.enter(never())
	}
}

func (s *storm) nextDeath() *death {
	kinds := []kind{storeCall, storeCall, handlerBegin, handlerEnd, doorbell}
	what := kinds[s.dice.IntN(len(kinds))]
	n := 1 + s.dice.IntN(8)
	if what == storeCall {
		n = 1 + s.dice.IntN(60)
	}
	return newDeath(what, n, forms[s.dice.IntN(len(forms))])
}

// never is the death of a worker that lives.
func never() *death { return newDeath(storeCall, 0, lost) }

func (s *storm) enter(d *death) {
	m := s.begin(d)
	s.workers = append(s.workers, m)
	m.ended.Go(func() { // until the worker dies, or is ended
		select {
		case <-d.dead:
			select {
			case s.died <- d:
			case <-m.ctx.Done():
			}
		case <-m.ctx.Done():
		}
	})
}

// pass lets the storm blow over a run, and checks what is left of it: the right
// result, and in each document one end for each event and one aggregator for each
// split. It returns how many workers died.
func (s *storm) pass() (deaths int) {
	t := s.w.t
	starter := s.w.processOn(slowStore{s.w.st}, &processor.Options{Bus: s.bus(), Wide: s.plot.wide})
	starter.start(pipeline(t, s.plot.steps...), "r", nil)
	ctx, over := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { s.blow(ctx, 3+s.dice.IntN(6)) })
	end := s.w.awaitWithin(starter, 5*time.Hour)
	over()
	ended.Wait()
	for _, m := range s.workers {
		m.end()
	}
	s.sweepLate()
	if got := fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output); got != s.plot.want {
		t.Errorf("the run ended %s, want %s", got, s.plot.want)
	}
	s.final()
	if t.Failed() {
		t.Logf("wide %d: %s", s.plot.wide, strings.Join(s.story, "; "))
	}
	return len(s.story)
}

// Workers that share a run die at random points, and others take their places, while
// doorbells are lost, doubled, late and out of order.
func TestStorm_DeathsAndDoorbells(t *testing.T) {
	deaths, storms := 0, 0
	eachSeed(t, func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) { deaths += newStorm(t, seed).pass() })
		storms++
	})
	t.Logf("%d workers died in %d storms", deaths, storms)
	if storms > 1 && deaths < 2*storms {
		t.Errorf("%d workers died in %d storms, want more", deaths, storms)
	}
}
