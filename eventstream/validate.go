package eventstream

import "fmt"

// Problem is something in a document that is not as an edit of ours leaves it.
// The document can be read all the same.
type Problem struct {
	Event string // id; "" for the root element
	Text  string
}

func (p Problem) String() string {
	if p.Event == "" {
		return p.Text
	}
	return "event " + p.Event + ": " + p.Text
}

// Validate looks for what a foreign hand or a fault left behind: times and
// durations that cannot be read, propagation that is missing, ids that do not fit
// their predecessor. It reads every event.
func (s *Stream) Validate() []Problem {
	var problems []Problem
	report := func(id string, format string, args ...any) {
		problems = append(problems, Problem{id, fmt.Sprintf(format, args...)})
	}
	if len(s.events) == 0 {
		report("", "the stream has no event")
	}
	if _, err := parseLimits(s.Attr("limits")); err != nil {
		report("", "%v", err)
	}
	if s.Attr("tags") != "" && s.Tags() == nil {
		report("", "attribute tags is not of the form that a run's tags have; the run counts as one without tags")
	}
	if s.isPausedUndated() {
		report("", "attribute paused is %q and not a time; the next edit lets the pause begin", s.Attr("paused"))
	}
	for _, e := range s.events {
		for _, err := range e.attrErrors() {
			report(e.id, "%v", err)
		}
		switch {
		case e.isOpenParent() && !e.isUndecided():
			report(e.id, "it is %s, but its successors have decided it; the next edit settles it", e.status)
		case e.status == Init && len(e.next) > 0:
			report(e.id, "it is init, but has successors; the next edit makes it wait for them")
		}
		if !e.status.Final() && s.isStranded(e) {
			report(e.id, "it is %s below a final event; the next edit cancels it", e.status)
		}
		if e.branches > 0 && int64(e.okBranches)+int64(e.failedBranches) > int64(e.branches) {
			report(e.id, "more of its branches have ended than it has")
		}
		switch {
		case e != s.root && e.prev == nil:
			report(e.id, "it has no prev and is not the root")
		case e.prev != nil && !e.has(flagSuperseded) && !e.has(flagLinked):
			report(e.id, "it is not in the next of its prev, %s", e.prev.id)
		case e.prev != nil && !inThread(e.thread.name, e.prev.thread.name):
			report(e.id, "its thread is not below that of its prev, %s", e.prev.id)
		}
	}
	return problems
}

// attrErrors are the times, durations and counts of an event that cannot be
// read.
func (e *Event) attrErrors() []error {
	var errs []error
	for name, value := range e.Attrs() {
		if err := checkReadable(name, value); err != nil {
			errs = append(errs, fmt.Errorf("attribute %s: %w", name, err))
		}
	}
	return errs
}
