package cli

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// whole is a run that this process works on until it ends.
type whole struct {
	pl       *processor.Pipeline
	workers  uint
	noCreate bool
	shipped  *processor.Tail // the log that is kept in the store; nil: none is
}

// run works on the run that begin starts or finds.
func (w whole) run(ctx context.Context, a *app, show progress, begin func(*processor.Processor) (*processor.Run, error)) (*processor.End, error) {
	var end *processor.End
	err := a.withWork(ctx, w.noCreate, show, func(p *processor.Processor) error {
		run, err := begin(p)
		if err != nil {
			return startError(err)
		}
		end, err = w.finish(ctx, a, p, show, run.Name)
		if err != nil && ctx.Err() != nil {
			return interrupted(a.storeURL, run.Name)
		}
		return err
	})
	return end, err
}

// finish works on a run until it has ended. A worker that cannot go on ends the
// waiting too.
func (w whole) finish(ctx context.Context, a *app, p *processor.Processor, show progress, name string) (*processor.End, error) {
	waiting, stopWaiting := context.WithCancelCause(ctx)
	defer stopWaiting(nil)
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	var side sync.WaitGroup
	var workErr error
	side.Go(func() { // until working ends, or the worker cannot go on
		workErr = p.Work(working, &processor.WorkOptions{
			Slots: int(w.workers), Only: []string{name}, Hurry: hurryOf(ctx), Log: w.shipped, URL: a.rungAt,
		}, w.pl)
		stopWaiting(workErr)
	})
	side.Go(func() { // until working ends
		<-working.Done()
		if ctx.Err() != nil {
			a.say(show, slog.LevelInfo, stopping)
		}
	})
	end, err := p.Await(waiting, name, func(s eventstream.Summary) { show.update(name, s) })
	stopWorking()
	side.Wait()
	if workErr != nil && end == nil {
		return nil, workErr
	}
	return end, err
}

// stopping explains why nothing seems to happen after an interrupt.
const stopping = "stopping when the steps that run have ended; interrupt again to stop at once"

// interrupted tells how to go on with a run.
func interrupted(storeURL, name string) error {
	how := "the same command goes on with it"
	if storeURL == inMemory {
		how = "it was only in memory"
	}
	return &exitError{codeInterrupted, fmt.Errorf("interrupted: run %q has not ended; %s", name, how)}
}
