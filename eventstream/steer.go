package eventstream

import "fmt"

// Cancel cancels an event and everything open below it, in the name of by, for a
// reason; both may be empty. Its predecessor is treated as if the event had ended
// by itself. Canceling what is canceled already is no error; ErrFinal if it ended
// in another way.
func (s *Stream) Cancel(e *Event, by, reason string) error {
	return s.stop(e, Canceled, by, reason)
}

// Abort is Cancel with the status aborted.
func (s *Stream) Abort(e *Event, by, reason string) error {
	return s.stop(e, Aborted, by, reason)
}

func (s *Stream) stop(e *Event, status Status, by, reason string) error {
	if err := s.editable(e); err != nil {
		return err
	}
	if e.status.Final() {
		if e.status == status {
			return nil
		}
		return fmt.Errorf("set event %s to %v: %w: it is %s", e.id, status, ErrFinal, e.status)
	}
	if err := checkReason(e, by, reason); err != nil {
		return err
	}
	s.steer()
	s.finish(e, status, nil, setOrUnset("by", by), setOrUnset("msg", reason))
	return nil
}

func checkReason(e *Event, by, reason string) error {
	for _, value := range []string{by, reason} {
		if err := checkValue(value); err != nil {
			return fmt.Errorf("reason for event %s: %w", e.id, err)
		}
	}
	return nil
}

// CloseSplit cancels the branches of a split that are still open, in the name
// of by, and lets the aggregator work with what there is. The policy of the split
// judges those branches as failed: only all, and tolerate as far as it goes, let
// the aggregator run.
func (s *Stream) CloseSplit(e *Event, by string) error {
	switch err := s.editable(e); {
	case err != nil:
		return err
	case e.status != Inprocess || e.tally.branches == 0 || e.tally.own > 0:
		return fmt.Errorf("close split %s: %w: it does not wait for branches", e.id, ErrStatus)
	}
	if err := checkReason(e, by, ""); err != nil {
		return err
	}
	s.steer()
	s.cancelBelow(e, by, "the split was closed by "+by)
	s.apply(e, []change{unset("due")})
	s.propagate(e)
	return nil
}
