package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// WorkOptions of a worker; nil means the defaults.
type WorkOptions struct {
	// ID names the worker in the streams; "" makes HOST-PID-RANDOM. Where one of
	// that ID has lived before, or after a loss of its lease, the worker goes on
	// under the ID with another random part.
	ID string
	// Slots is how many handlers run at a time; 0 means twice the processors.
	Slots int
	// Only restricts the work to these runs; nil: all.
	Only []string
	// Grace is how long handlers may go on after ctx has ended; then their own
	// context ends as well. 0 means 5 s, a negative one no time at all.
	Grace time.Duration
	// Hurry ends the grace time when it is closed: a second signal, for one. nil:
	// never.
	Hurry <-chan struct{}
	// Log is the end of the worker's log, which is written to workers/ID.log in the
	// container: every 5 s while it grows, and when the worker ends. Whoever logs
	// writes to it as well. nil: none is kept there.
	Log *Tail
	// URL is where this worker takes doorbells over HTTP. It stands in the worker's
	// blob, where Processor.Peers of others finds it; "": it takes none.
	URL string
	// Find looks for the pipeline of a definition that the worker was not given and
	// that an open run has; nil, without an error, if there is none. What it finds
	// is served from then on, as if it had been given. What it does not find is
	// asked for again every 2 s, of a distant store every 30 s. One call at a time,
	// and events of other runs wait meanwhile. nil: only the pipelines given.
	Find func(ctx context.Context, definition string) (*Pipeline, error)
}

var (
	// ErrWorkerLost is the cause with which a handler's context ends when the
	// worker lost its lease: somebody else may have the event.
	ErrWorkerLost = errors.New("the worker lost its lease")
	// ErrShutdown is the cause when the worker ends.
	ErrShutdown = errors.New("the worker shuts down")
	// ErrCanceled is the cause when the event was canceled or taken away.
	ErrCanceled = errors.New("the event was canceled")
	// ErrTimeout is the cause when the step's timeout passed.
	ErrTimeout = errors.New("the step's timeout has passed")
)

// Work runs the handlers of the pipelines until ctx ends. Then it takes no more
// work, lets handlers finish for a grace time, gives back what is left, and
// returns nil. Any number of workers may share a container.
func (p *Processor) Work(ctx context.Context, o *WorkOptions, pipelines ...*Pipeline) error {
	if o == nil {
		o = &WorkOptions{}
	}
	if len(pipelines) == 0 && o.Find == nil {
		return errors.New("a worker needs a pipeline")
	}
	base := o.ID
	if base == "" {
		base = processName()
	} else if err := checkWorkerID(base); err != nil {
		return err
	}
	id, slots := o.ID, o.slots()
	for lives := 0; ; lives++ {
		// An ID serves one lease: under a new one nothing of older claims can be
		// mistaken for ours.
		if id == "" {
			id = base + "-" + randomText(8)
		}
		w := newWorker(p, id, slots, o, pipelines)
		err := w.work(ctx)
		slots = w.slots // as they were set last
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errTaken):
		case lives == 0 && !errors.Is(err, ErrWorkerLost):
			return err
		default:
			p.log.WarnContext(ctx, "worker begins anew", "worker", id, "err", err)
			sleep(ctx, p.timing.poll)
		}
		id = ""
	}
}

// processName names this process well enough to find it.
func processName() string {
	host, err := os.Hostname()
	if err != nil || CheckName(host) != nil {
		host = "host"
	}
	return fmt.Sprintf("%.60s-%d", host, os.Getpid())
}

// errTaken: a worker of that ID has lived before.
var errTaken = errors.New("the worker's ID was used before")

// worker is one life of a worker, under one lease.
type worker struct {
	p          *Processor
	id         string
	log        *slog.Logger
	grace      time.Duration
	hurry      <-chan struct{}
	only       []string
	ship       shipper
	url        string
	started    time.Time
	served     *repertoire
	sub        *subscription
	looks      *subscription     // streams that somebody changed in some way
	freed      chan struct{}     // has a value when a slot became free
	sweeping   atomic.Bool       // this worker has the sweep
	steered    chan struct{}     // has a value when the sweep saw that a stream with handlers of ours was steered
	pauseSeen  time.Time         // when dispatch last looked whether all is paused
	pauseAfter int64             // claims made by then
	claimed    atomic.Int64      // claims made
	rest       rests             // of dispatch: streams that promised work and had none
	turns      turns             // of dispatch: when runs had their turn
	glances    map[string]glance // of dispatch: what was last seen of streams with handlers of ours
	loads      atomic.Pointer[loads]
	parent     atomic.Pointer[parentSpan] // that was looked for last, and takes long to find

	handlers sync.WaitGroup
	stop     context.CancelCauseFunc // ends the contexts of all handlers
	die      func(why error)         // ends this life of the worker

	mu       sync.Mutex // guards the fields below
	stopping bool
	// allPaused: Processor.PauseAll was in force at the last look.
	allPaused bool
	queue     []string            // streams that have work
	slots     int                 // how many handlers run at a time
	busy      int                 // slots in use
	slotsSeen time.Time           // when a new setting was last looked for
	perStep   map[stepKey]int     // handlers by step, for Step.Concurrency
	running   duties              // what is claimed, run or reported
	suspect   map[string]struct{} // streams where an edit of ours may have left a claim that nobody runs
}

type stepKey struct{ definition, step string }

// taskKey is one attempt of one event. The time of the claim tells it from that of an
// event which a foreign hand has removed and our edit made again.
type taskKey struct {
	stream, run, event string
	attempt            int
	started            string
}

// slots is how many handlers run at a time.
func (o *WorkOptions) slots() int {
	if o.Slots <= 0 {
		return 2 * runtime.GOMAXPROCS(0)
	}
	return o.Slots
}

func newWorker(p *Processor, id string, slots int, o *WorkOptions, pipelines []*Pipeline) *worker {
	w := &worker{
		p: p, id: id, log: p.log.With("worker", id),
		slots: slots, slotsSeen: time.Now(), grace: o.Grace, hurry: o.Hurry, only: o.Only, url: o.URL,
		started: p.scope.Now(), served: newRepertoire(o.Find, p.timing.sweep, pipelines),
		looks: newSubscription(newEvents), freed: make(chan struct{}, 1), steered: make(chan struct{}, 1),
		rest:    newRests(p.timing.poll, maxRest),
		perStep: map[stepKey]int{}, running: duties{},
		suspect: map[string]struct{}{}, glances: map[string]glance{},
	}
	if w.grace == 0 {
		w.grace = 5 * time.Second
	}
	w.ship = shipper{w: w, tail: o.Log}
	return w
}

// work lives one lease long.
func (w *worker) work(ctx context.Context) error {
	lease, err := w.register(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer w.ship.last(ctx)
	w.log.InfoContext(ctx, "worker started", "slots", w.slots)
	w.sub = w.p.hub.subscribe(newEvents)
	defer w.p.hub.leave(w.sub)
	w.p.directory.enter(w.url)
	defer w.p.directory.leave(w.url)

	handlerCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	w.stop = stop
	defer stop(ErrShutdown)
	loopCtx, endLoop := context.WithCancel(ctx)
	w.die = func(why error) {
		stop(fmt.Errorf("%w: %w", ErrWorkerLost, why))
		endLoop()
	}
	unwatch := context.AfterFunc(lease.Context(), func() { w.die(context.Cause(lease.Context())) })
	defer unwatch()

	var side sync.WaitGroup
	side.Go(func() { w.listen(loopCtx) })
	side.Go(func() { w.p.ringer.run(loopCtx) })
	side.Go(func() { w.sweep(loopCtx) })
	side.Go(func() { w.followSlots(loopCtx) })
	side.Go(func() { w.ship.run(loopCtx) })
	w.served.publish = func(ctx context.Context) error { return w.publish(ctx, lease.ID()) }
	w.dispatch(loopCtx, handlerCtx)
	endLoop()
	w.drain(context.WithoutCancel(ctx))
	side.Wait()
	if lost := context.Cause(handlerCtx); errors.Is(lost, ErrWorkerLost) && ctx.Err() == nil {
		return errors.Join(lost, lease.Release(ctx))
	}
	w.unregister(ctx, lease)
	w.log.InfoContext(ctx, "worker stopped")
	return nil
}

// register writes the worker's blob and takes its lease: as long as that lives,
// what carries the worker's key is being worked on.
func (w *worker) register(ctx context.Context) (*scope.Lease, error) {
	body, err := json.Marshal(w.info())
	if err != nil {
		return nil, err
	}
	info, err := w.p.scope.Store().Put(ctx, w.blob(), body, &store.PutOptions{
		Conditions:  store.Conditions{IfNoneMatch: store.AnyETag},
		ContentType: "application/json",
	})
	if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrLeaseMissing) {
		return nil, fmt.Errorf("register worker %s: %w", w.id, errTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("register worker %s: %w", w.id, err)
	}
	// Nobody can set the slots of a worker before it has its lease: what is there is
	// left from another one.
	w.forgetSettings(ctx)
	lease, err := w.p.scope.Hold(ctx, w.blob(), &scope.HoldOptions{Duration: w.p.timing.lease})
	if err != nil {
		w.withdraw(ctx, info.ETag)
		return nil, fmt.Errorf("register worker %s: %w", w.id, err)
	}
	return lease, nil
}

// withdraw takes away the blob of a worker that got no lease, as a rule because its
// run had ended by then: it would be listed as dead.
func (w *worker) withdraw(ctx context.Context, etag string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := w.p.scope.Store().Delete(ctx, w.blob(), &store.Conditions{IfMatch: etag})
	if err != nil && !isChanged(err) {
		w.log.WarnContext(ctx, "worker blob was not removed", "err", err)
	}
}

func (w *worker) blob() string { return workerBlob(w.id) }

// forgetSettings takes away what was said about the worker's slots. A worker that
// may not delete works all the same.
func (w *worker) forgetSettings(ctx context.Context) {
	err := w.p.scope.Store().Delete(ctx, settingsBlob(w.id), nil)
	if err != nil && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		w.log.WarnContext(ctx, "worker settings were not removed", "err", err)
	}
}

// publish writes the worker's blob anew, under its lease.
func (w *worker) publish(ctx context.Context, leaseID string) error {
	body, err := json.Marshal(w.info())
	if err != nil {
		return err
	}
	_, err = w.p.scope.Store().Put(ctx, w.blob(), body, &store.PutOptions{
		Conditions:  store.Conditions{LeaseID: leaseID},
		ContentType: "application/json",
	})
	return err
}

func (w *worker) info() WorkerInfo {
	w.mu.Lock()
	slots := w.slots
	w.mu.Unlock()
	return WorkerInfo{ID: w.id, Started: w.started, Slots: slots, URL: w.url, Only: w.only, Pipelines: w.served.list()}
}

// unregister takes the worker's blob away. If that does not succeed, the sweep
// does it later.
func (w *worker) unregister(ctx context.Context, lease *scope.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := w.p.scope.Store().Delete(ctx, w.blob(), &store.Conditions{LeaseID: lease.ID()})
	if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrLeaseNotPresent) {
		// Somebody broke the lease. As long as the blob is there, no other worker has its ID.
		err = w.p.scope.Store().Delete(ctx, w.blob(), nil)
	}
	if err != nil && !isChanged(err) {
		w.log.WarnContext(ctx, "worker blob was not removed", "err", err)
	}
	if err := lease.Release(ctx); err != nil {
		w.log.WarnContext(ctx, "worker lease was not released", "err", err)
	}
	w.forgetSettings(ctx)
}

// listen takes doorbells of other processes, anew when there are more steps to
// listen for.
func (w *worker) listen(ctx context.Context) {
	if w.p.bus == nil {
		return
	}
	for ctx.Err() == nil {
		listening, stop := context.WithCancel(ctx)
		err := w.p.bus.Listen(listening, w.served.steps(stop), w.hear)
		stop()
		if err == nil {
			continue
		}
		w.log.WarnContext(ctx, "doorbells are not heard; events are found by polling", "err", err)
		sleep(ctx, w.p.timing.idlePoll)
	}
}

// hear takes a doorbell. Whoever can reach the bus may say anything, so a name
// that no stream can have is passed over.
func (w *worker) hear(bell bus.Doorbell) {
	switch {
	case !isDocument(bell.Stream):
	case bell.Step == "":
		w.looks.add(bell.Stream)
	default:
		w.sub.add(bell.Stream)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// drain waits for the handlers: for the grace time as they are, then with their
// contexts ended. Those whose events are canceled already get no grace.
func (w *worker) drain(ctx context.Context) {
	w.mu.Lock()
	w.stopping = true
	w.mu.Unlock()
	w.stopLost(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.handlers.Wait()
	}()
	timer := time.NewTimer(max(0, w.grace))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-w.hurry:
	}
	w.stop(ErrShutdown)
	<-done
}

// place is where this worker begins to look for claims in a stream, so that
// workers do not all grab for the same event.
func (w *worker) place(events int) int {
	h := fnv.New32a()
	h.Write([]byte(w.id))
	return int(h.Sum32()) % max(1, events)
}
