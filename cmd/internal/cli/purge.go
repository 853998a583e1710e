package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// purging are the flags of purge.
type purging struct {
	olderThan    age
	status       choice
	pipelineName string
	tagged       tags
	dryRun, yes  bool
	format       choice
}

func (a *app) newPurge() *cobra.Command {
	var c purging
	cmd := &cobra.Command{
		Use:   "purge {NAME... | --older-than AGE | --status STATUS | --pipeline NAME | --tag KEY[=VALUE]}",
		Short: "Remove runs that have ended, with all their payloads, for good",
		Long: `Remove runs that have ended, with all their payloads, for good: those with the
names, or all that fit every one of --older-than, --status, --pipeline and --tag.
Open runs are never removed; cancel them first.

A line for each run and a last one for all say how many payloads went, and how many
bytes of them and of the documents. What cannot be removed is reported, the others
go on, and the exit code is 1. Killed anywhere, the same command again goes on.
With --format json, an array has an object for each run, with an error if it was
not removed.

Without names it asks first, on a terminal; elsewhere it needs --yes.`,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().Var(&c.olderThan, "older-than", "only runs that ended at least this `AGE` ago, such as 12h or 30d")
	statusFlag(cmd, &c.status, endStatuses...)
	addPipelineFilter(cmd, &c.pipelineName)
	addTagFilter(cmd, &c.tagged)
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only print what would be removed")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	formatFlag(cmd, &c.format, "text", "json")
	cmd.RunE = a.do(func(ctx context.Context, names []string) error {
		filtered := cmd.Flags().Changed("older-than") || c.status.value != "" || c.pipelineName != "" || len(c.tagged.values) > 0
		if err := c.check(a, names, filtered); err != nil {
			return err
		}
		return a.withRuns(ctx, func(p *processor.Processor) error { return c.run(ctx, a, p, names) })
	})
	return cmd
}

func (c *purging) check(a *app, names []string, filtered bool) error {
	switch {
	case len(names) == 0 && !filtered:
		return usagef("name the runs, or choose them with --older-than, --status, --pipeline or --tag")
	case len(names) > 0 && filtered:
		return usagef("name the runs or choose them, not both")
	case c.mustAsk(names) && !isTerminal(a.stdin):
		return usagef("give --yes to remove all runs that fit, or --dry-run to see them")
	}
	return nil
}

func (c *purging) mustAsk(names []string) bool { return len(names) == 0 && !c.dryRun && !c.yes }

func (c *purging) run(ctx context.Context, a *app, p *processor.Processor, names []string) error {
	o := processor.PurgeOptions{
		Names: names, Status: c.status.value, Pipeline: c.pipelineName, Tags: c.tagged.values,
		OlderThan: c.olderThan.value, DryRun: c.dryRun,
	}
	if len(names) == 0 {
		o.Names = nil
	}
	if c.mustAsk(names) {
		var err error
		if o.Names, err = a.confirmPurge(ctx, p, o); err != nil {
			return err
		}
	}
	var v purgeView = &purgeLines{w: a.stdout, dryRun: c.dryRun}
	if c.format.value == "json" {
		v = purgeJSON{newJSONArray(a.stdout)}
	}
	sum, err := a.showPurge(v, p.PurgeAll(ctx, &o))
	if sum.failed > 0 {
		err = errors.Join(err, fmt.Errorf("%s not purged", plural(sum.failed, "run")))
	}
	return errors.Join(err, v.end(sum))
}

// confirmPurge shows what would be removed, asks for it, and gives the names: what
// comes to fit after that was not seen.
func (a *app) confirmPurge(ctx context.Context, p *processor.Processor, o processor.PurgeOptions) ([]string, error) {
	o.DryRun = true
	sum, err := a.showPurge(&purgeLines{w: a.stderr}, p.PurgeAll(ctx, &o))
	if err != nil || len(sum.names) == 0 {
		return []string{}, err
	}
	question := fmt.Sprintf("Remove %s for good: %s?", plural(len(sum.names), "run"), shownPurged(sum.Purged))
	if err := a.ask(ctx, question); err != nil {
		return nil, err
	}
	return sum.names, nil
}

// purgedSum is what a purge came to.
type purgedSum struct {
	processor.Purged
	names  []string
	failed int
}

// showPurge shows each run as soon as it is done with.
func (a *app) showPurge(v purgeView, runs iter.Seq2[processor.PurgedRun, error]) (sum purgedSum, err error) {
	for run, err := range runs {
		if err != nil {
			return sum, err
		}
		sum.Payloads += run.Payloads
		sum.Bytes += run.Bytes
		if run.Err != nil {
			sum.failed++
			a.complain(run.Err)
		} else {
			sum.names = append(sum.names, run.Name)
		}
		if err := v.show(run); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
