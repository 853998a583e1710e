package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newResume() *cobra.Command {
	cmd := a.onRunOrAll("resume", "End a pause",
		func(ctx context.Context, p *processor.Processor, args []string) error {
			return p.Resume(ctx, args[0], at(args))
		},
		func(ctx context.Context, p *processor.Processor, _ []string) error {
			return p.ResumeAll(ctx)
		})
	cmd.Long = `End the pause of a run, of an event or thread of it, or, with --all, the one of all
runs in the store. Each pause ends by itself: a run that was paused goes on after
resume --all only if it is resumed as well.`
	return cmd
}
