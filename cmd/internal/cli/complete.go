package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newComplete() *cobra.Command {
	var (
		s      steering
		output string
	)
	cmd := a.steeringCommand("complete", "Complete an event that waits for someone outside, with its output", &s,
		func(ctx context.Context, p *processor.Processor, args []string) error {
			data, err := a.readJSON("--output", output)
			if err != nil {
				return err
			}
			return p.Complete(ctx, args[0], at(args), data, s.who(a))
		})
	cmd.Flags().StringVar(&output, "output", "", "the output of the event: `JSON`, @FILE, or - for standard input")
	return cmd
}
