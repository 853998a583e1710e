package processortest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// patience is how much fake time Await gives a run.
const patience = 48 * time.Hour

// Env is a container in memory with the processes that share it: that of the test,
// which starts and steers runs and handles nothing, and one for each [Worker]. Its
// methods end the test where something goes wrong that is not the pipeline's doing.
type Env struct {
	T         *testing.T // of the bubble of fake time; its context ends with the test
	Processor *processor.Processor

	container *memstore.Store
	network   *membus.Bus
	processes sync.WaitGroup // of the workers
}

// Run runs a test in a bubble of fake time. When f returns, the workers stop.
func Run(t *testing.T, f func(e *Env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &Env{T: t, container: memstore.New(nil), network: membus.New()}
		if err := e.container.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		var end func()
		e.Processor, end = e.process(e.container)
		t.Cleanup(func() {
			e.processes.Wait()
			end()
			_ = e.network.Close()
		})
		f(e)
	})
}

// process makes one more process of the container, and what ends it.
func (e *Env) process(st store.Store) (p *processor.Processor, end func()) {
	sc, b := scope.New(distinct{st}, nil), e.network.Join()
	return processor.New(sc, &processor.Options{Bus: b}), func() {
		_ = sc.Close() // of a process that was killed this fails, as it should
		_ = b.Close()
	}
}

// distinct is a local store that does not tell whether anything was written: workers
// then look for that less often, which makes long times cheap.
type distinct struct{ store.Store }

func (distinct) Local() bool { return true }

// Pipeline makes a pipeline of steps, the first of which is where a run begins.
func (e *Env) Pipeline(steps ...processor.Step) *processor.Pipeline {
	e.T.Helper()
	pl, err := processor.NewPipeline("test", nil, steps...)
	if err != nil {
		e.T.Fatal(err)
	}
	return pl
}

// Start begins a run with an input, which becomes JSON, and returns its name.
func (e *Env) Start(pl *processor.Pipeline, input any) (name string) {
	e.T.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		e.T.Fatal(err)
	}
	run, err := e.Processor.Start(e.T.Context(), pl, data, nil)
	if err != nil {
		e.T.Fatal(err)
	}
	return run.Name
}

// Await waits for the end of a run. One that goes on after two days ends the
// test, and shows where it stands.
func (e *Env) Await(name string) *processor.End {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(e.T.Context(), patience)
	defer cancel()
	end, err := e.Processor.Await(ctx, name, nil)
	if ctx.Err() != nil {
		e.T.Fatalf("run %q does not end:\n%s", name, e.Outline(name))
	}
	if err != nil {
		e.T.Fatal(err)
	}
	return end
}

// Stream is the event stream of a run as it stands, for reading.
func (e *Env) Stream(name string) *eventstream.Stream {
	e.T.Helper()
	snapshot, err := e.Processor.Read(e.T.Context(), name)
	if err != nil {
		e.T.Fatal(err)
	}
	return snapshot.Stream
}

// Outline is [Outline] of the stream of a run.
func (e *Env) Outline(name string) string {
	e.T.Helper()
	return Outline(e.Stream(name))
}

// WantOutline reports an error if a run does not have this [Outline]. White space
// around the text and its lines does not count.
func (e *Env) WantOutline(name, want string) {
	e.T.Helper()
	if got, want := e.Outline(name), trimLines(want); got != want {
		e.T.Errorf("run %q is\n%s\nwant\n%s", name, got, want)
	}
}

func trimLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// Store is the container, beneath all faults: for a look, or for an edit of a
// document by hand.
func (e *Env) Store() store.Store { return e.container }
