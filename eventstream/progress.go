package eventstream

import (
	"fmt"
	"iter"
	"time"
)

// Progress counts live events by status.
type Progress struct {
	Total, Init, Inprocess, Completed, Aborted, Canceled int
}

// Done is how many have ended.
func (p Progress) Done() int { return p.Completed + p.Aborted + p.Canceled }

// Progress counts the live events, from the index.
func (s *Stream) Progress() Progress {
	n := func(status Status) int { return s.byStatus[status].n }
	return Progress{
		Total: len(s.events) - s.superseded,
		Init:  n(Init), Inprocess: n(Inprocess),
		Completed: n(Completed), Aborted: n(Aborted), Canceled: n(Canceled),
	}
}

// IsDone reports whether the run has ended: its root is final.
func (s *Stream) IsDone() bool { return s.root != nil && s.root.status.Final() }

// AreDone reports whether the events with the given ids have all ended. ErrID if
// there is no such event.
func (s *Stream) AreDone(ids ...string) (bool, error) {
	done := true
	for _, id := range ids {
		e := s.Event(id)
		if e == nil {
			return false, fmt.Errorf("%w %q: the stream has no such event", ErrID, id)
		}
		done = done && e.status.Final()
	}
	return done, nil
}

// Status is the state of the run: inprocess until its root is final, then that
// of [Stream.Decider]; withError tells whether the root carries WithError.
func (s *Stream) Status() (status Status, withError bool) {
	switch {
	case s.root == nil:
		return Init, false
	case !s.root.status.Final():
		return Inprocess, false
	}
	return s.Decider().status, s.root.has(flagWithError)
}

// Decider is the event whose status is that of a run that has ended, and whose msg
// says why: the last of the root thread, or the root, where it was aborted or
// canceled together with whatever came after it. It is nil in an empty stream.
func (s *Stream) Decider() *Event {
	last := s.Last()
	if last != nil && (s.root.status != Completed || !last.status.Final()) {
		return s.root
	}
	return last
}

// Result is what became of a branch of a split.
type Result struct {
	First  *Event // the event the split created
	Last   *Event // the last event of the branch, whose status and output count
	Failed bool   // the branch has ended, and badly
}

// Results yields the results of a split's branches, in the order in which the
// splitter made them.
func (s *Stream) Results(split *Event) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		for _, first := range split.next {
			if first.thread == split.thread {
				continue
			}
			last := first.thread.last
			if !yield(Result{first, last, first.status.Final() && last.failedBranch()}) {
				return
			}
		}
	}
}

// Last returns the last event of the root thread, whose output is that of the
// run; nil in an empty stream.
func (s *Stream) Last() *Event {
	if s.root == nil {
		return nil
	}
	if last := s.root.thread.last; last != nil {
		return last
	}
	return s.root // a foreign hand has superseded it
}

// ThreadLast returns the last live event of a thread, or nil.
func (s *Stream) ThreadLast(thread string) *Event {
	if t := s.findThread(thread); t != nil {
		return t.last
	}
	return nil
}

// NextWake is when the stream next needs a look although nobody edits it: an
// event falls due or a timeout ends. Zero if never. What a pause holds does not
// count, nor does the deadline of the run.
func (s *Stream) NextWake() time.Time {
	var first int64
	for e := range s.members(&s.timed, 0) {
		if (first == 0 || e.wake < first) && !s.sleeps(e) {
			first = e.wake
		}
	}
	if first == 0 {
		return time.Time{}
	}
	return time.UnixMilli(first).UTC()
}

// Woken yields the live events whose due time or timeout has come, save those
// that a pause holds.
func (s *Stream) Woken(now time.Time) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for e := range s.members(&s.timed, 0) {
			if e.wake <= now.UnixMilli() && !s.sleeps(e) && !yield(e) {
				return
			}
		}
	}
}

// sleeps reports whether a pause holds an event with a wake time: all but
// handlers that run.
func (s *Stream) sleeps(e *Event) bool { return !e.Running() && s.IsPaused(e) }
