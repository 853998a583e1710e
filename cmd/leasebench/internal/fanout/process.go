package fanout

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/meter"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// Config is what a process has to know of the fan-out that it takes part in.
type Config struct {
	Store   string // URL
	Name    string // of the run
	N       int    // branches
	Workers int    // handlers that run at a time
	Payload int    // bytes of the message of a branch, as far as it can be that short
	Narrow  bool   // keep the split in one document
	// Profiles is a folder for the CPU profile of each process; "" for none.
	Profiles string
}

// Process is one process that works on a fan-out.
type Process struct {
	config   Config
	meter    meter.Meter
	store    store.Store
	scope    *scope.Scope
	runs     *processor.Processor
	trace    trace
	pipeline *processor.Pipeline

	stop context.CancelFunc // ends the worker
	done chan error         // what the worker returned
}

// Report is what one process did.
type Report struct {
	Jobs        int64         `json:"jobs"` // branches handled
	Edits       int64         `json:"edits"`
	Commits     int64         `json:"commits"`
	LongestWait time.Duration `json:"longest_wait"`
	Peak        int64         `json:"peak"` // bytes resident
	Requests    meter.Counts  `json:"requests"`
	// LastBranch and Aggregator are when the last branch that the process handled
	// ended and when the aggregator was called, in ns since 1970; 0 for never.
	LastBranch int64 `json:"last_branch"`
	Aggregator int64 `json:"aggregator"`
}

// Open begins to work, and returns when the worker takes events.
func Open(ctx context.Context, c Config) (*Process, error) {
	st, err := wire.OpenStore(ctx, c.Store, &wire.StoreOptions{Create: true})
	if err != nil {
		return nil, err
	}
	p := &Process{config: c, meter: meter.Meter{Prefix: "streams/"}, done: make(chan error, 1)}
	p.trace.aggregates = make(chan struct{}, 1)
	if p.pipeline, err = p.trace.pipeline(); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	p.store = st
	p.scope = scope.New(p.meter.Wrap(st), nil)
	o := &processor.Options{}
	if c.Narrow {
		o.Wide = -1
	}
	p.runs = processor.New(p.scope, o)

	id := "leasebench-" + uuid.NewString()
	workCtx, stop := context.WithCancel(ctx)
	p.stop = stop
	// Ends with stop, in Close, which waits for it.
	go func() {
		p.done <- p.runs.Work(workCtx, &processor.WorkOptions{ID: id, Slots: c.Workers}, p.pipeline)
	}()
	if err := p.awaitWorker(ctx, "workers/"+id); err != nil {
		_, closed := p.Close()
		return nil, errors.Join(err, closed)
	}
	return p, nil
}

// awaitWorker waits until the worker holds the lease of its blob.
func (p *Process) awaitWorker(ctx context.Context, blob string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		info, err := p.store.Stat(ctx, blob, nil)
		switch {
		case err == nil && info.Lease.State == store.LeaseLeased:
			return nil
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
		select {
		case err := <-p.done:
			p.done <- err // for Close
			return fmt.Errorf("the worker ended: %w", err)
		case <-tick.C:
		}
	}
}

// Start begins the run.
func (p *Process) Start(ctx context.Context) error {
	message, err := Message(p.config.N, p.config.Payload)
	if err != nil {
		return err
	}
	_, err = p.runs.Start(ctx, p.pipeline, message, &processor.StartOptions{Name: p.config.Name})
	return err
}

// Aggregates has a value once the aggregator was called in this process.
func (p *Process) Aggregates() <-chan struct{} { return p.trace.aggregates }

// Await waits for the end of the run and returns its result. Only in the process
// that called the aggregator it returns at once; others poll.
func (p *Process) Await(ctx context.Context) (int64, error) {
	end, err := p.runs.Await(ctx, p.config.Name, nil)
	if err != nil {
		return 0, err
	}
	sum, err := strconv.ParseInt(string(end.Output), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the run ended as %v: %s", end.Status, end.Msg)
	}
	return sum, nil
}

// Close stops the work and tells what was done.
func (p *Process) Close() (Report, error) {
	p.stop()
	worked := <-p.done
	closed := errors.Join(worked, p.scope.Close(), p.store.Close())
	stats := p.scope.Stats()
	return Report{
		Jobs:        p.trace.jobs.Load(),
		Edits:       stats.Edits,
		Commits:     stats.Commits,
		LongestWait: stats.LongestWait,
		Peak:        measure.PeakMemory(),
		Requests:    p.meter.Counts(),
		LastBranch:  p.trace.lastBranch.Load(),
		Aggregator:  p.trace.aggregator.Load(),
	}, closed
}
