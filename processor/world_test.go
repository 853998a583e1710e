package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// world is a container with the processes that share it: each has a scope and a
// processor of its own.
type world struct {
	t  *testing.T
	st store.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{t, st}
}

// process is one process of the world.
type process struct {
	*processor.Processor
	w     *world
	scope *scope.Scope
	stop  context.CancelFunc
	done  sync.WaitGroup
}

func (w *world) process(o *processor.Options) *process { return w.processOn(w.st, o) }

func (w *world) processOn(st store.Store, o *processor.Options) *process {
	sc := scope.New(st, nil)
	p := &process{Processor: processor.New(sc, o), w: w, scope: sc, stop: func() {}}
	if strings.HasPrefix(w.t.Name(), wideTests) {
		p.SetWide(wideBranches, 1<<20)
	}
	w.t.Cleanup(p.end)
	return p
}

// work starts a worker, which end stops.
func (p *process) work(o *processor.WorkOptions, pipelines ...*processor.Pipeline) {
	ctx, stop := context.WithCancel(context.Background())
	before := p.stop
	p.stop = func() { stop(); before() }
	p.done.Go(func() {
		if err := p.Work(ctx, o, pipelines...); err != nil {
			p.w.t.Errorf("Work() = %v", err)
		}
	})
}

func (p *process) end() {
	p.stop()
	p.done.Wait()
	if err := p.scope.Close(); err != nil {
		p.w.t.Errorf("Scope.Close() = %v", err)
	}
}

// run starts a run, waits for its end and returns it.
func (p *process) run(pl *processor.Pipeline, name string, input any) *processor.End {
	p.w.t.Helper()
	p.start(pl, name, input)
	return p.await(name)
}

func (p *process) start(pl *processor.Pipeline, name string, input any) *processor.Run {
	p.w.t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		p.w.t.Fatal(err)
	}
	run, err := p.Start(p.w.t.Context(), pl, data, &processor.StartOptions{Name: name})
	if err != nil {
		p.w.t.Fatalf("Start(%q) = %v", name, err)
	}
	return run
}

func (p *process) await(name string) *processor.End {
	p.w.t.Helper()
	end, err := p.Await(p.w.t.Context(), name, nil)
	if err != nil {
		p.w.t.Fatalf("Await(%q) = %v", name, err)
	}
	return end
}

// stream reads the document of a run.
func (p *process) stream(name string) *eventstream.Stream {
	p.w.t.Helper()
	snapshot, err := p.Read(p.w.t.Context(), name)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return snapshot.Stream
}

func pipeline(t *testing.T, steps ...processor.Step) *processor.Pipeline {
	t.Helper()
	pl, err := processor.NewPipeline("test", nil, steps...)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// squares is the pipeline that most tests run: split a number into its
// predecessors, square each, add up.
func squares(t *testing.T, square processor.Handler) *processor.Pipeline {
	t.Helper()
	return pipeline(t,
		processor.Step{Name: "Split", Handler: splitNumbers},
		processor.Step{Name: "Square", Handler: square},
		processor.Step{Name: "Sum", Handler: processor.Aggregate(sum)},
	)
}

func splitNumbers(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var n int
	if err := t.Decode(&n); err != nil {
		return processor.Outcome{}, err
	}
	messages := make([]any, n)
	for i := range messages {
		messages[i] = i + 1
	}
	return processor.Split("Square", messages...).Join("Sum"), nil
}

var square = processor.Func(func(_ context.Context, n int) (int, error) { return n * n, nil })

// sum adds up what branches gave, and counts those that failed as nothing.
func sum(_ context.Context, results iter.Seq2[int, error]) (int, error) {
	total := 0
	for n, err := range results {
		if _, failed := errors.AsType[*processor.BranchError](err); err != nil && !failed {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func wantEnd(t *testing.T, end *processor.End, status eventstream.Status, withError bool, output string) {
	t.Helper()
	got := fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output)
	if want := fmt.Sprintf("%v %v %s", status, withError, output); got != want {
		t.Errorf("run %q ended %s (%s), want %s", end.Name, got, end.Msg, want)
	}
}
