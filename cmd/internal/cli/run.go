package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// runOptions are the flags of run.
type runOptions struct {
	starting
	workers uint
}

func (a *app) newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Start or resume a run, work on it until it ends, and print its result",
		Long: `Start a run of a pipeline file, or resume it, work on it in this process until it
ends, and print the aggregated output as one line of JSON.

Without --name, the newest run of the same file and input that has not ended is
resumed, if there is one: after a crash or an interruption, the same command goes
on where it stopped. With --name, the run of that name is resumed or begun.

The exit code is 0 if the run completed, 3 if something in it failed, 4 if it was
aborted, 5 if it was canceled, 130 if this process was interrupted.`,
		Args: cobra.ExactArgs(1),
	}
	o.addTo(cmd)
	addWorkers(cmd, &o.workers)
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		show := a.newProgress()
		end, err := o.run(ctx, a, show, args[0])
		show.close()
		if err != nil {
			return err
		}
		return a.showEnd(end)
	})
	return cmd
}

func (o *runOptions) run(ctx context.Context, a *app, show progress, file string) (*processor.End, error) {
	pl, message, err := o.load(a, file, show)
	if err != nil {
		return nil, err
	}
	var end *processor.End
	err = a.withRuns(ctx, !o.noCreate, show, func(p *processor.Processor) error {
		run, err := p.Start(ctx, pl, message, &processor.StartOptions{Name: o.name, Resume: true})
		if err != nil {
			return startError(err)
		}
		end, err = o.finish(ctx, p, show, pl, run.Name)
		if err != nil && ctx.Err() != nil {
			return interrupted(a.storeURL, run.Name)
		}
		return err
	})
	return end, err
}

// finish works on a run until it has ended. A worker that cannot go on ends the
// waiting too.
func (o *runOptions) finish(ctx context.Context, p *processor.Processor, show progress, pl *processor.Pipeline, name string) (*processor.End, error) {
	waiting, stopWaiting := context.WithCancelCause(ctx)
	defer stopWaiting(nil)
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	var side sync.WaitGroup
	var workErr error
	side.Go(func() { // until working ends, or the worker cannot go on
		workErr = p.Work(working, &processor.WorkOptions{Slots: int(o.workers), Only: []string{name}}, pl)
		stopWaiting(workErr)
	})
	side.Go(func() { // until working ends
		<-working.Done()
		if ctx.Err() != nil {
			sayStopping(show)
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

// sayStopping explains why nothing seems to happen after an interrupt.
func sayStopping(w io.Writer) {
	fmt.Fprintln(w, "leasestream: stopping when the steps that run have ended; interrupt again to stop at once")
}

// interrupted tells how to go on with a run.
func interrupted(storeURL, name string) error {
	how := "the same command goes on with it"
	if storeURL == "mem:" {
		how = "it was only in memory"
	}
	return &exitError{codeInterrupted, fmt.Errorf("interrupted: run %q has not ended; %s", name, how)}
}

// showEnd writes the output of a run that completed, and gives the exit code.
func (a *app) showEnd(end *processor.End) error {
	err := endError(end)
	if end.Status != eventstream.Completed {
		return err
	}
	output := end.Output
	if output == nil {
		output = json.RawMessage("null")
	}
	return errors.Join(writeJSON(a.stdout, output), err)
}
