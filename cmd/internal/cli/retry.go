package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newRetry() *cobra.Command {
	var (
		s           steering
		from, input string
	)
	cmd := a.steeringCommand("retry", "Run again what failed or was canceled", &s,
		func(ctx context.Context, p *processor.Processor, args []string) error {
			if from != "" && len(args) > 1 {
				return usagef("give ID or --from, not both")
			}
			message, err := a.readJSON("--input", input)
			if err != nil {
				return err
			}
			ids, err := p.Retry(ctx, args[0], &processor.RetryOptions{
				Below: at(args), From: from, Input: message, By: s.who(a),
			})
			if err != nil {
				return err
			}
			return a.showIDs(ids)
		})
	cmd.Long = `Let a run go on from where it failed, and print the IDs of the events that run
again. ID is an event such as 01.02, or a thread such as '01.*': only what failed
there runs again. Without it, everything does that failed or was canceled.

Finished branches keep their results, and the aggregators above are made anew. A
worker, or leasestream run with the same file, input and --name, does the work.`
	cmd.Flags().StringVar(&from, "from", "", "run this event again, the `ID` of any, and what comes after it")
	cmd.Flags().StringVar(&input, "input", "", "a new message for what runs again: `JSON`, @FILE, or - for standard input")
	return cmd
}

func (a *app) showIDs(ids []string) error {
	for _, id := range ids {
		if _, err := fmt.Fprintln(a.stdout, id); err != nil {
			return err
		}
	}
	return nil
}
