package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// noLimit is the word for as many as there are.
const noLimit = "none"

func (a *app) newLimit() *cobra.Command {
	var s steering
	cmd := &cobra.Command{
		Use:   "limit NAME STEP {N | none}",
		Short: "Change how many events of a step a run handles at a time",
		Long: `Change how many events of a step all workers together handle at a time in a run,
whatever its pipeline file says; none takes the limit away. It holds from the next
event on, and what runs is left to finish. See concurrency in the pipeline file for
a limit of all runs, and of one worker.`,
		Args: cobra.ExactArgs(3),
	}
	s.addTo(cmd)
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		n, err := parseLimit(args[2])
		if err != nil {
			return err
		}
		return a.withRuns(ctx, func(p *processor.Processor) error {
			if err := p.SetLimit(ctx, args[0], args[1], n, s.who(a)); err != nil {
				return startError(err)
			}
			return a.warnOfStep(ctx, p, args[0], args[1])
		})
	})
	return cmd
}

func parseLimit(text string) (int, error) {
	if text == noLimit {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, usagef("limit %q: want a whole number from 1, or %s; to take no more work of a run, use leasestream pause", text, noLimit)
	}
	return int(n), nil
}

// warnOfStep says so if a run has no step of a name, as far as can be known: the
// limit is set all the same.
func (a *app) warnOfStep(ctx context.Context, p *processor.Processor, name, step string) error {
	snapshot, err := p.Read(ctx, name)
	if err != nil {
		return err
	}
	steps := knownSteps(ctx, p, snapshot.Stream)
	if !slices.Contains(steps, step) {
		fmt.Fprintf(a.stderr, "leasestream: the limit is set, but as far as is known run %q has no step %q, only %s\n", name, step, strings.Join(steps, ", "))
	}
	return nil
}

// knownSteps are those that the events of a run wait for, and those of its
// pipeline if it was a file, sorted.
func knownSteps(ctx context.Context, p *processor.Processor, s *eventstream.Stream) []string {
	steps := map[string]bool{}
	for e := range s.Events() {
		steps[printable(e.Topic())] = true
	}
	source, err := p.Source(ctx, s.Attr("definition"))
	if err != nil {
		return slices.Sorted(maps.Keys(steps))
	}
	if pl, err := pipeline.Parse(source, nil); err == nil {
		for _, step := range pl.Steps() {
			steps[step.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(steps))
}

// shownLimits tells the limits that were changed for a run; "" if none was.
func shownLimits(s *eventstream.Stream) string {
	limits := s.Limits()
	shown := make([]string, 0, len(limits))
	for _, step := range slices.Sorted(maps.Keys(limits)) {
		shown = append(shown, printable(step)+" "+shownLimit(limits[step]))
	}
	return strings.Join(shown, ", ")
}

func shownLimit(n int) string {
	if n == 0 {
		return noLimit
	}
	return strconv.Itoa(n)
}

// limitsJSON has null for no limit.
func limitsJSON(s *eventstream.Stream) map[string]*int {
	limits := map[string]*int{}
	for step, n := range s.Limits() {
		limits[step] = nil
		if n > 0 {
			limits[step] = new(n)
		}
	}
	return limits
}
