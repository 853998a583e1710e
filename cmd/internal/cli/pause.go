package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newPause() *cobra.Command {
	var (
		s      steering
		reason string
	)
	cmd := a.onRunOrAll("pause", "Take no more work of a run, of a part of it, or of any run",
		func(ctx context.Context, p *processor.Processor, args []string) error {
			return p.Pause(ctx, args[0], at(args), s.who(a), reason)
		},
		func(ctx context.Context, p *processor.Processor, _ []string) error {
			return p.PauseAll(ctx, s.who(a), reason)
		})
	cmd.Long = `Take no more work of a run, of an event or thread of it with all below, or, with
--all, of any run in the store, until leasestream resume. Steps that run are left
to finish, and what waits in a paused run does not time out meanwhile. A pause of
all runs, which maintenance of the store needs, gives no such time back.`
	s.addTo(cmd)
	addReason(cmd, &reason)
	return cmd
}

// onRunOrAll makes the command of something done to a run or a part of it or, with
// --all, to everything in the store.
func (a *app) onRunOrAll(verb, short string, one, all runsBody) *cobra.Command {
	var everything bool
	cmd := &cobra.Command{Use: verb + " {NAME [ID] | --all}", Short: short, Args: cobra.MaximumNArgs(2)}
	cmd.Flags().BoolVar(&everything, "all", false, "all runs of the store")
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		f := one
		switch {
		case everything && len(args) > 0:
			return usagef("give NAME or --all, not both")
		case everything:
			f = all
		case len(args) == 0:
			return usagef("give NAME, or --all")
		}
		return a.withRuns(ctx, func(p *processor.Processor) error { return f(ctx, p, args) })
	})
	return cmd
}
