package processortest

import (
	"context"

	"github.com/leasestream/leasestream/processor"
)

// Worker is a process that runs handlers.
type Worker struct {
	faults *faults
	stop   context.CancelFunc
	ended  chan struct{}
}

// Work lets one more worker handle the events of pipelines, until the test is over.
// nil options mean the defaults.
func (e *Env) Work(o *processor.WorkOptions, pipelines ...*processor.Pipeline) *Worker {
	ctx, stop := context.WithCancel(context.Background())
	w := &Worker{faults: &faults{Store: e.container}, stop: stop, ended: make(chan struct{})}
	p, end := e.process(w.faults)
	e.processes.Go(func() {
		defer close(w.ended)
		defer end()
		if err := p.Work(ctx, o, pipelines...); err != nil && !w.faults.isDead() {
			e.T.Errorf("Work() = %v", err)
		}
	})
	e.T.Cleanup(stop)
	return w
}

// Stop lets the worker finish what it handles, as at SIGTERM, and waits for its end.
func (w *Worker) Stop() {
	w.stop()
	<-w.ended
}

// Kill lets the process die on the spot: nothing of what it does reaches the store
// any more, and the contexts of its handlers end. What it has claimed is taken over
// by other workers once its lease has run out. It may be called inside a handler.
func (w *Worker) Kill() {
	w.faults.kill()
	w.stop()
}

// FailStore lets the next n requests of the worker to the store fail, with or without
// being carried out: an answer that is lost on the way is one that was. A worker that
// cannot register itself ends with an error, as [processor.Processor.Work] does.
func (w *Worker) FailStore(n int, carriedOut bool) { w.faults.fail(n, carriedOut) }
