package processor_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// The tests in this file let a process die at every point of what it does — each
// call of the store, each begin and end of a handler, each doorbell — and let
// another one finish its work. The end must be the same as if nobody had died, in
// every event of the document.

// longMode asks for the numbers that are too many for every day.
const longMode = "LEASESTREAM_LONG"

func long() bool { return os.Getenv(longMode) != "" }

// form is what becomes of the request at which a process dies.
type form string

const (
	lost       form = "lost"       // it never arrives
	unanswered form = "unanswered" // it is carried out, and nobody is told
	late       form = "late"       // it arrives when the run has long ended elsewhere
)

var forms = []form{lost, unanswered, late}

// kind is what a process does at a point where it may die.
type kind string

const (
	storeCall    kind = "call of the store"
	handlerBegin kind = "begin of a handler"
	handlerEnd   kind = "end of a handler"
	doorbell     kind = "doorbell"
)

// death comes at the nth time that a process does something of one kind. From
// then on nothing of the process reaches the world.
type death struct {
	what kind
	n    int
	form form

	dead chan struct{} // closed when it has come
	over chan struct{} // closed when late requests arrive

	mu    sync.Mutex // guards the fields below
	count map[kind]int
	at    string // the call of the store at which it came
}

func newDeath(what kind, n int, f form) *death {
	return &death{what: what, n: n, form: f, dead: make(chan struct{}), over: make(chan struct{}), count: map[kind]int{}}
}

func (d *death) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("death at %s %d (%s), %s", d.what, d.n, d.at, d.form)
}

// strike reports whether this is the moment, and whether it has passed.
func (d *death) strike(what kind, at string) (now, dead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.dead:
		return false, true
	default:
	}
	d.count[what]++
	if what != d.what || d.count[what] != d.n {
		return false, false
	}
	d.at = at
	close(d.dead)
	return true, true
}

// hook is that of the store of the process.
func (d *death) hook(c storetest.Call) (apply bool, err error) {
	now, dead := d.strike(storeCall, c.Op+" "+c.Name)
	switch {
	case !dead:
		return true, nil
	case d.form == late:
		<-d.over
		return now, errCut
	}
	return now && d.form == unanswered, errCut
}

// pass is a point that is no call of the store.
func (d *death) pass(what kind) (dead bool) {
	_, dead = d.strike(what, "")
	if dead && d.form == late {
		<-d.over
	}
	return dead
}

func (d *death) handlers(steps []processor.Step) []processor.Step {
	mortal := slices.Clone(steps)
	for i, step := range steps {
		mortal[i].Handler = func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
			d.pass(handlerBegin)
			defer d.pass(handlerEnd)
			return step.Handler(ctx, t)
		}
	}
	return mortal
}

// mortalBus is the bus of a process that dies.
type mortalBus struct {
	bus.Bus
	d *death
}

func (b mortalBus) Ring(ctx context.Context, bells ...bus.Doorbell) error {
	if b.d.pass(doorbell) {
		return errCut
	}
	return b.Bus.Ring(ctx, bells...)
}

// mortal is a process that works until it dies.
type mortal struct {
	*process
	d     *death
	steps *processor.Pipeline
	ctx   context.Context // ends with end
	ended sync.WaitGroup
	end   func() // for good: what hung arrives
}

// begin lets a process work that a death awaits.
func (c *crash) begin(d *death) *mortal {
	b := mortalBus{c.bus(), d}
	faults := storetest.NewFaults(c.w.st, d.hook)
	var st store.Store = faults
	if c.far {
		st = farFaults{faults}
	}
	sc := scope.New(st, nil)
	m := &mortal{
		process: &process{Processor: processor.New(sc, &processor.Options{Bus: b, Wide: c.plot.wide}), w: c.w, scope: sc},
		d:       d, steps: pipeline(c.w.t, d.handlers(c.plot.steps)...),
	}
	ctx, stop := context.WithCancel(context.Background())
	m.ctx = ctx
	m.ended.Go(func() { _ = m.Work(ctx, &processor.WorkOptions{Slots: 2, Grace: -1}, m.steps) })
	m.end = sync.OnceFunc(func() {
		close(d.over)
		stop()
		m.ended.Wait()
		_ = sc.Close()
		_ = b.Close()
	})
	c.w.t.Cleanup(m.end)
	return m
}

// play lets a process work and play, until it has died or the play is over. It
// returns whether it has died, and what ends it for good.
func (c *crash) play(d *death) (died bool, end func()) {
	m := c.begin(d)
	played := make(chan error, 1)
	m.ended.Go(func() { played <- c.plot.play(m.ctx, m.process, m.steps) })
	select {
	case <-d.dead:
		died = true
	case err := <-played:
		if died = errIsCut(err); !died && err != nil {
			c.w.t.Errorf("%v: play = %v", d, err)
		}
	}
	return died, m.end
}

// bus is that of one more process of the network.
func (c *crash) bus() bus.Bus {
	b := c.network.Join()
	if c.chaos == 0 {
		return b
	}
	c.joined++
	return bustest.Chaos(b, c.chaos+c.joined)
}

// errIsCut reports whether a play ended because its process had died.
func errIsCut(err error) bool { return err != nil && strings.Contains(err.Error(), errCut.Error()) }

// crash is one play with deaths in it.
type crash struct {
	w       *world
	plot    plot
	far     bool // the timing is Azure's
	network *membus.Bus
	chaos   uint64 // seed of the doorbells' mishaps; 0: none
	joined  uint64 // processes on the network
}

// rescue lets a process that does not die finish the play, and returns what
// everybody can see at the end.
func (c *crash) rescue() string {
	b := c.bus()
	st := c.w.st
	if c.far {
		st = slowStore{st}
	}
	p := c.w.processOn(st, &processor.Options{Bus: b, Wide: c.plot.wide})
	pl := pipeline(c.w.t, c.plot.steps...)
	p.work(nil, pl)
	ctx, cancel := context.WithTimeout(c.w.t.Context(), time.Hour)
	defer cancel()
	if err := c.plot.play(ctx, p, pl); err != nil {
		c.w.t.Fatalf("play = %v\n%s", err, c.document())
	}
	c.sweep()
	p.stop()
	p.done.Wait()
	if err := b.Close(); err != nil {
		c.w.t.Error(err)
	}
	return c.final()
}

// sweep is the time in which what a death left undone in child streams is made up
// for; the run itself may have ended before.
func (c *crash) sweep() {
	if c.plot.wide > 0 {
		time.Sleep(5 * time.Minute)
	}
}

// sweepLate does so once more when late requests have arrived.
func (c *crash) sweepLate() {
	if c.plot.wide == 0 {
		return
	}
	p := c.w.processOn(slowStore{c.w.st}, nil)
	p.work(nil, pipeline(c.w.t, c.plot.steps...))
	c.sweep()
	p.stop()
	p.done.Wait()
}

func (c *crash) document() []byte {
	object, err := c.w.st.Get(context.Background(), processor.BlobOf("r"), nil)
	if err != nil {
		return []byte(err.Error())
	}
	return object.Body
}

// final checks the document at the end and gives all of it that does not depend
// on who did what when.
func (c *crash) final() string {
	sc := scope.New(c.w.st, nil)
	defer sc.Close()
	p := processor.New(sc, nil)
	snapshot, err := p.Read(context.Background(), "r")
	if err != nil {
		c.w.t.Fatal(err)
	}
	for d, err := range p.Documents(context.Background(), "r") {
		if err != nil {
			c.w.t.Fatal(err)
		}
		checkEnded(c.w.t, d.Stream)
	}
	if !c.plot.exact {
		return c.plot.want
	}
	return timeless(c.w.t, p, snapshot.Stream)
}

// checkEnded checks what must hold of every run that has ended: nothing is open,
// nothing is left to settle, and each split that closed has one aggregator.
func checkEnded(t *testing.T, s *eventstream.Stream) {
	t.Helper()
	for _, problem := range s.Validate() {
		t.Errorf("the document has a problem: %v", problem)
	}
	joins := map[string]int{}
	for e := range s.Events() {
		if e.Superseded() {
			continue
		}
		if !e.Status().Final() {
			t.Errorf("event %s is %v at the end", e.ID(), e.Status())
		}
		if e.IsJoin() {
			joins[e.Prev().ID()]++
		}
	}
	for e := range s.Events() {
		if e.Superseded() || e.Attr("join") == "" {
			continue
		}
		if n := joins[e.ID()]; n > 1 || n == 0 && e.Status() == eventstream.Completed {
			t.Errorf("split %s, %v, has %d aggregators", e.ID(), e.Status(), n)
		}
	}
	if t.Failed() {
		t.Logf("%s", s.Bytes())
	}
}

// timeless writes the events of a stream in the order of their ids, without times,
// workers and the numbers of attempts, and payloads in full wherever they lie.
func timeless(t *testing.T, p *processor.Processor, s *eventstream.Stream) string {
	t.Helper()
	payload := func(get func() (eventstream.Payload, bool)) string {
		ref, ok := get()
		if !ok {
			return "-"
		}
		data, err := p.Payload(context.Background(), ref)
		if err != nil {
			t.Errorf("payload %q: %v", ref.Ref, err)
		}
		return string(data)
	}
	var lines []string
	for e := range s.Events() {
		attrs := maps.Collect(e.Attrs())
		for _, name := range []string{"created", "timestamp", "started", "due", "key", "attempt", "failures", "trackingId"} {
			delete(attrs, name)
		}
		var line strings.Builder
		line.WriteString(e.ID())
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			line.WriteString(fmt.Sprintf(" %s=%q", name, attrs[name]))
		}
		lines = append(lines, line.String()+" "+payload(e.Input)+" "+payload(e.Output))
	}
	slices.SortFunc(lines, func(a, b string) int {
		return eventstream.CompareIDs(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	return strings.Join(lines, "\n")
}

// once plays a plot with a death in it, and reports whether it came.
func (c *crash) once(want string, d *death) (died bool) {
	died, end := c.play(d)
	got := c.rescue()
	end() // what hung arrives now
	c.sweepLate()
	if got != want {
		c.w.t.Errorf("%v: the end is\n%s\nwant\n%s", d, got, want)
	} else if after := c.final(); after != want {
		c.w.t.Errorf("%v: long after the end it became\n%s\nwant\n%s", d, after, want)
	}
	if c.w.t.Failed() {
		c.w.t.Logf("%v", d)
	}
	return died
}

// undisturbed is the end of a plot in which nobody dies.
func undisturbed(t *testing.T, pl plot) (want string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &crash{w: newWorld(t), plot: pl, network: membus.New()}
		want = c.rescue()
	})
	return want
}

// sampled says which points are tried: all in the long mode, else a few that
// change from run to run.
func sampled() bool { return long() || rand.IntN(24) == 0 }

// manyPoints is more than any plot has of one kind.
const manyPoints = 300

// Each plot survives the death of its process at each point of each kind.
func TestCrash_EachPoint(t *testing.T) {
	for _, pl := range allPlots() {
		t.Run(pl.name, func(t *testing.T) {
			want := undisturbed(t, pl)
			for _, what := range []kind{storeCall, handlerBegin, handlerEnd, doorbell} {
				for _, f := range forms {
					if what != storeCall && f == unanswered {
						continue
					}
					eachDeath(t, pl, want, what, f)
				}
			}
		})
	}
}

// eachDeath lets a process die at the first, the second and so on point of a kind,
// until it does not come that far.
func eachDeath(t *testing.T, pl plot, want string, what kind, f form) {
	died := true
	for n := 1; died && n < manyPoints && !t.Failed(); n++ {
		if !sampled() {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			c := &crash{w: newWorld(t), plot: pl, far: true, network: membus.New()}
			died = c.once(want, newDeath(what, n, f))
		})
	}
}

// The same over the embedded store, at points that change from run to run.
func TestCrash_SQLite(t *testing.T) {
	deaths := 1
	if long() {
		deaths = 20
	}
	for _, pl := range allPlots() {
		t.Run(pl.name, func(t *testing.T) {
			want := undisturbed(t, pl)
			for range deaths {
				synctest.Test(t, func(t *testing.T) {
					d := newDeath(storeCall, 1+rand.IntN(60), forms[rand.IntN(len(forms))])
					c := &crash{w: newSQLiteWorld(t), plot: pl, far: pl.name != "split", network: membus.New()}
					c.once(want, d)
				})
			}
		})
	}
}

func newSQLiteWorld(t *testing.T) *world {
	t.Helper()
	st, err := sqlitestore.Open(filepath.Join(t.TempDir(), "store.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{t, st}
}

// Several processes die one after the other, at random points, while doorbells are
// lost, doubled and late.
func TestCrash_Seeds(t *testing.T) {
	ends := map[string]string{}
	for _, pl := range allPlots() {
		ends[pl.name] = undisturbed(t, pl)
	}
	eachSeed(t, func(t *testing.T, seed uint64) { crashBySeed(t, seed, ends) })
}

// oneSeed asks for one random story again: that of the seed which a failed test has
// in its name.
const oneSeed = "LEASESTREAM_SEED"

// eachSeed runs a test of random stories with 50 seeds, in the long mode with 1,000.
func eachSeed(t *testing.T, f func(t *testing.T, seed uint64)) {
	seeds := 50
	if long() {
		seeds = 1000
	}
	again, err := strconv.ParseUint(os.Getenv(oneSeed), 10, 64)
	if err == nil {
		seeds = 1
	}
	for range seeds {
		seed := cmp.Or(again, rand.Uint64())
		if !t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { f(t, seed) }) {
			return
		}
	}
}

func crashBySeed(t *testing.T, seed uint64, ends map[string]string) {
	dice := rand.New(rand.NewPCG(seed, 1))
	list := allPlots()
	pl := list[dice.IntN(len(list))]
	synctest.Test(t, func(t *testing.T) {
		c := &crash{w: newWorld(t), plot: pl, far: dice.IntN(4) > 0, network: membus.New(), chaos: seed}
		var story []string
		var ending []func()
		for range 1 + dice.IntN(3) {
			d := newDeath([]kind{storeCall, storeCall, handlerBegin, handlerEnd}[dice.IntN(4)], 1+dice.IntN(40), forms[dice.IntN(3)])
			died, end := c.play(d)
			story, ending = append(story, fmt.Sprintf("%v: %t", d, died)), append(ending, end)
			time.Sleep(time.Duration(dice.IntN(120)) * time.Second)
		}
		got := c.rescue()
		for _, end := range ending {
			end()
		}
		c.sweepLate()
		if after := c.final(); got != ends[pl.name] || after != got {
			t.Errorf("the end is\n%s\nlater\n%s\nwant\n%s", got, after, ends[pl.name])
		}
		if t.Failed() {
			t.Logf("%s: %s", pl.name, strings.Join(story, "; "))
		}
	})
}
