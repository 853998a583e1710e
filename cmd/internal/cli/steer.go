package cli

import (
	"cmp"
	"context"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// steering is what the commands that intervene in a run have in common.
type steering struct{ by string }

const steeringArgs = " NAME [ID]"

func (a *app) steeringCommand(verb, short string, s *steering, f runsBody) *cobra.Command {
	cmd := &cobra.Command{Use: verb + steeringArgs, Short: short, Args: cobra.RangeArgs(1, 2), RunE: a.inRuns(f)}
	cmd.Long = short + `.

ID is an event such as 01.02, or a thread such as '01.*'; without it, the whole
run is meant.`
	s.addTo(cmd)
	return cmd
}

func (s *steering) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.by, "by", "", "`NAME` of who does it, for the record (default the user)")
}

func addReason(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "why, for the record")
}

// who is the name for the record.
func (s *steering) who(a *app) string {
	return cmp.Or(s.by, a.getenv("USER"), a.getenv("LOGNAME"), a.getenv("USERNAME"), osUser(), "unknown")
}

// osUser is whom the system takes us for; "" if it does not say.
func osUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// at is the event or thread of the optional argument; "" for the run.
func at(args []string) string {
	if len(args) < 2 {
		return ""
	}
	return args[1]
}

// endFunc is what Cancel and Abort of a processor look like.
type endFunc func(p *processor.Processor, ctx context.Context, name, at, by, reason string) error

func (a *app) newEnding(verb, short string, end endFunc) *cobra.Command {
	var (
		s      steering
		reason string
	)
	cmd := a.steeringCommand(verb, short, &s, func(ctx context.Context, p *processor.Processor, args []string) error {
		return end(p, ctx, args[0], at(args), s.who(a), reason)
	})
	addReason(cmd, &reason)
	return cmd
}
