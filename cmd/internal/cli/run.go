package cli

import (
	"context"
	"encoding/json"
	"errors"

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

The exit code is 0 if the run completed, 3 if it did and something in it failed or
was canceled (as what the policy first:N needs no more), 4 if it was aborted, 5 if
it was canceled, 130 if this process was interrupted.`,
		Args: cobra.ExactArgs(1),
	}
	o.addTo(cmd)
	addWorkers(cmd, &o.workers)
	a.addShipLogs(cmd)
	a.addMetrics(cmd)
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
	w := whole{pl: pl, workers: o.workers, noCreate: o.noCreate, shipped: a.shippedLog()}
	return w.run(ctx, a, show, func(p *processor.Processor) (*processor.Run, error) {
		run, err := p.Start(ctx, pl, message, &processor.StartOptions{Name: o.name, Resume: true, Tags: o.tags.values})
		if err == nil && o.name == "" && !run.Attached {
			a.sayEarlier(ctx, p, show, pl)
		}
		return run, err
	})
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
