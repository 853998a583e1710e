package processor

import (
	"context"
	"fmt"

	"github.com/leasestream/leasestream/eventstream"
)

// SetLimit changes how many events of a step are handled at a time in a whole run,
// whatever its pipeline says, in the name of by; 0 lifts the limit. It holds from
// the next claim on, and no claim passes it; handlers that run are left to finish.
// A step of that name need not be there: which there are only the pipeline knows.
// ErrName if no step can have the name; eventstream.ErrFinal if the run has ended,
// eventstream.ErrValue for a negative limit.
func (p *Processor) SetLimit(ctx context.Context, name, step string, n int, by string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if !stepName.MatchString(step) {
		return fmt.Errorf("limit of step: %w %.120q", ErrName, step)
	}
	_, err := p.edit(ctx, name, func(s *eventstream.Stream) error { return s.SetLimit(step, n, by) })
	return err
}

// limitIn is how many events of the step may run at a time in a run with these
// limits; 0: as many as there are.
func (s *Step) limitIn(limits map[string]int) int {
	if n, ok := limits[s.Name]; ok {
		return n
	}
	return s.RunConcurrency
}

// hasRoom reports whether the run may handle one more event of the step.
func (s *Step) hasRoom(limits map[string]int, running int) bool {
	limit := s.limitIn(limits)
	return limit == 0 || running < limit
}

// canTake reports whether an event of a step waits that the run may still handle,
// as far as the metadata tell.
func (p *Pipeline) canTake(summary eventstream.Summary) bool {
	known := summary.Limits != nil && summary.Running != nil
	for name := range summary.Ready {
		step := p.Step(name)
		if step != nil && (!known || step.hasRoom(summary.Limits, summary.Running[name])) {
			return true
		}
	}
	return false
}
