package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newSkip() *cobra.Command {
	var (
		s      steering
		reason string
	)
	cmd := a.steeringCommand("skip", "Complete an event without an output, as if its work was not needed", &s,
		func(ctx context.Context, p *processor.Processor, args []string) error {
			return p.Skip(ctx, args[0], args[1], s.who(a), reason)
		})
	cmd.Use, cmd.Args = "skip NAME ID", cobra.ExactArgs(2)
	cmd.Long = cmd.Short + `. What a worker that
is at it comes back with is refused.`
	addReason(cmd, &reason)
	return cmd
}
