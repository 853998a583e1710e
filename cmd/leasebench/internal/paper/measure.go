package paper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope"
)

const (
	// slots is how many handlers a worker runs at a time.
	slots = 64
	// payload is how many bytes the message of a branch has.
	payload = 64
	// settling is how long workers have to get ready before the clock runs.
	settling = 2 * time.Minute
)

// Measure has workers share a fan-out into n branches, each with a scope, a
// processor and a connection of its own, and a bus that rings without delay. It
// returns an error if the sum of what the branches return is wrong. It waits for
// minutes and takes the time, so call it in a testing/synctest bubble.
func Measure(ctx context.Context, a Azure, workers, n int) (r Result, err error) {
	account := NewAccount(a)
	if err := account.Connect().Create(ctx); err != nil {
		return Result{}, err
	}
	c, err := assemble(ctx, account, workers)
	defer func() { err = errors.Join(err, c.close()) }()
	if err != nil {
		return Result{}, err
	}
	time.Sleep(settling)
	before, began := account.Bill(), time.Now()
	sum, err := c.run(ctx, n)
	if err == nil && sum != fanout.Sum(n) {
		err = fmt.Errorf("the sum of %d branches is %d, not %d", n, sum, fanout.Sum(n))
	}
	return Result{Workers: workers, N: n, Wall: time.Since(began), Bill: account.Bill().Since(before)}, err
}

// crew are the workers of a fan-out.
type crew struct {
	bus     *membus.Bus
	members []*member
	ended   chan *member // the one that called the aggregator

	stop    context.CancelFunc
	working sync.WaitGroup
	mu      sync.Mutex // guards the field below
	errs    []error
}

type member struct {
	scope    *scope.Scope
	runs     *processor.Processor
	pipeline *processor.Pipeline
}

// assemble returns the crew also with an error: those who work already have to be
// stopped.
func assemble(ctx context.Context, account *Account, workers int) (*crew, error) {
	ctx, stop := context.WithCancel(ctx)
	c := &crew{bus: membus.New(), ended: make(chan *member, workers), stop: stop}
	for i := range workers {
		if err := c.hire(ctx, account, fmt.Sprint("paper-", i)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *crew) hire(ctx context.Context, account *Account, id string) error {
	pl, aggregates, err := fanout.Pipeline()
	if err != nil {
		return err
	}
	m := &member{scope: scope.New(account.Connect(), nil), pipeline: pl}
	m.runs = processor.New(m.scope, &processor.Options{Bus: c.bus.Join()})
	c.members = append(c.members, m)
	c.working.Go(func() {
		c.note(m.runs.Work(ctx, &processor.WorkOptions{ID: id, Slots: slots}, pl))
	})
	c.working.Go(func() {
		select {
		case <-aggregates:
			c.ended <- m
		case <-ctx.Done():
		}
	})
	return nil
}

// run has the first member start a run, and the one that ends it tell the result:
// it knows without polling.
func (c *crew) run(ctx context.Context, n int) (sum int64, err error) {
	message, err := fanout.Message(n, payload)
	if err != nil {
		return 0, err
	}
	const name = "paper"
	first := c.members[0]
	if _, err := first.runs.Start(ctx, first.pipeline, message, &processor.StartOptions{Name: name}); err != nil {
		return 0, err
	}
	var last *member
	select {
	case last = <-c.ended:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	end, err := last.runs.Await(ctx, name, nil)
	if err != nil {
		return 0, err
	}
	sum, err = strconv.ParseInt(string(end.Output), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the run ended as %v: %s", end.Status, end.Msg)
	}
	return sum, nil
}

func (c *crew) close() error {
	c.stop()
	c.working.Wait()
	for _, m := range c.members {
		c.note(m.scope.Close())
	}
	c.note(c.bus.Close())
	return errors.Join(c.errs...)
}

func (c *crew) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
}
