package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// eachOptions are the flags of each.
type eachOptions struct {
	name        string
	tags        tags
	policy      policy
	workers     uint
	retryFailed bool
	noCreate    bool
	format      choice
}

func (a *app) newEach() *cobra.Command {
	var o eachOptions
	cmd := &cobra.Command{
		Use:   "each [flags] -- CMD [ARG...]",
		Short: "Run a command for each line of standard input, as one run",
		Long: `Run a command for each line of standard input, several at a time, as one run that
survives a crash. {} in any argument is replaced by the line; if there is none, the
line becomes the last argument. No shell is involved, so a line is one argument
whatever is in it; for pipes, write sh -c '... "$1"' sh {}.

When all have ended, what the commands wrote to standard output is printed in the
order of the lines; with --format json, a line of JSON for each line of input:
{"input", "status", "output" | "error"}. The end of a failed command's standard
error is shown with its line. The standard input of a command is its line, as JSON.

Without --name, the newest run of the same command, policy and lines that has not
ended is resumed, if there is one: lines that were done are not done again. A
command that was at work when this process died runs again. One that fails is not
repeated; --retry-failed repeats what failed in the newest run, whose tags stay as
they are.

The exit code is 0 if all commands succeeded, 3 if some did not, or were canceled
because the policy first:N needs no more, 4 if the run was aborted, as the policy
says (then leasestream show has the details), 5 if it was canceled, 130 if this
process was interrupted.`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().SetInterspersed(false) // what follows CMD is its own
	cmd.Flags().StringVar(&o.name, "name", "", "`NAME` of the run (default each and a random part)")
	addTags(cmd, &o.tags)
	cmd.Flags().Var(&o.policy, "policy", "what a failed command does to the others: all (they go on), failfast, first:N, tolerate:N, tolerate:N%")
	cmd.Flags().BoolVar(&o.retryFailed, "retry-failed", false, "run again what failed in the newest run of the same command, policy and lines")
	addWorkers(cmd, &o.workers)
	addNoCreate(cmd, &o.noCreate)
	a.addShipLogs(cmd)
	a.addMetrics(cmd)
	formatFlag(cmd, &o.format, "text", "json")
	cmd.RunE = a.do(func(ctx context.Context, words []string) error {
		lines, err := a.readLines()
		if err != nil {
			return err
		}
		show := a.newProgress()
		end, err := o.run(ctx, a, show, words, lines)
		show.close()
		if err != nil {
			return err
		}
		return a.showEach(end, lines, o.format)
	})
	return cmd
}

func (o *eachOptions) run(ctx context.Context, a *app, show progress, words, lines []string) (*processor.End, error) {
	pl, err := eachPipeline(words, string(o.policy), a.pipelineOptions("", show))
	if err != nil {
		return nil, err
	}
	input, err := marshal(lines)
	if err != nil {
		return nil, err
	}
	w := whole{pl: pl, workers: o.workers, noCreate: o.noCreate, shipped: a.shippedLog()}
	return w.run(ctx, a, show, func(p *processor.Processor) (*processor.Run, error) {
		if o.retryFailed {
			return o.retry(ctx, a, p, pl, input)
		}
		return p.Start(ctx, pl, input, &processor.StartOptions{Name: o.name, Resume: true, Tags: o.tags.values})
	})
}

// retry reopens the newest run. One that has not ended goes on, and of one in
// which nothing failed there is only the result to show.
func (o *eachOptions) retry(ctx context.Context, a *app, p *processor.Processor, pl *processor.Pipeline, input json.RawMessage) (*processor.Run, error) {
	info, err := o.newest(ctx, p, pl.Definition(), inputHash(input))
	if err != nil {
		return nil, err
	}
	run := &processor.Run{Name: info.Name, ID: info.Run, Attached: true}
	if !info.Status.Final() {
		return run, nil
	}
	var s steering
	_, err = p.Retry(ctx, info.Name, &processor.RetryOptions{By: s.who(a)})
	if errors.Is(err, eventstream.ErrNothingToReopen) {
		err = nil
	}
	return run, err
}

// newest finds the newest run of a definition and an input.
func (o *eachOptions) newest(ctx context.Context, p *processor.Processor, definition, input string) (*processor.RunInfo, error) {
	newest, n, err := newestOf(p.List(ctx, nil), func(info processor.RunInfo) bool {
		return info.Definition == definition && info.Input == input && (o.name == "" || o.name == info.Name)
	})
	if err == nil && n == 0 {
		err = errors.New("there is no run of this command, policy and lines to retry; leave out --retry-failed to begin one")
	}
	return &newest, err
}
