package dashboard

import (
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// stats sum up the events of a run by their steps.
type stats struct {
	Steps []*stepStat
	First time.Time // something happened
	Last  time.Time
	Busy  bool // something is worked on
	// Failed and Canceled are of all steps.
	Failed, Canceled int
}

// stepStat sums up the events of one step.
type stepStat struct {
	Step                                           string
	Total                                          int
	Waiting, Running, Open, Done, Failed, Canceled int
	Ended                                          int // attempts that ended
	First, Last                                    time.Time
	Median, P95                                    time.Duration // of attempts that ended
	spans                                          []span
	took                                           []time.Duration
}

// Names are the steps, in the order in which they came up.
func (st *stats) Names() []string {
	names := make([]string, len(st.Steps))
	for i, s := range st.Steps {
		names[i] = s.Step
	}
	return names
}

// span is when an event was worked on; it ends at the zero time if it is still.
type span struct{ from, to time.Time }

func statsOf(s *snapshot) *stats {
	st := &stats{}
	byStep := map[string]*stepStat{}
	for e := range s.events() {
		if e.Superseded() {
			continue
		}
		step := byStep[stepOf(e.Event)]
		if step == nil {
			step = &stepStat{Step: stepOf(e.Event)}
			byStep[step.Step] = step
			st.Steps = append(st.Steps, step)
		}
		p := phasesOf(e.Event)
		step.add(e.Event, p)
		st.Busy = st.Busy || e.Running()
		st.First = earlier(st.First, p.Created)
		st.Last = later(st.Last, firstOf(p.Ended, p.Handed, p.Started, p.Created))
	}
	for _, step := range st.Steps {
		step.finish()
		st.Failed += step.Failed
		st.Canceled += step.Canceled
	}
	return st
}

func (s *stepStat) add(e *eventstream.Event, p phases) {
	s.Total++
	switch stateOf(e, time.Time{}) {
	case waiting, delayed:
		s.Waiting++
	case running:
		s.Running++
	case outside, following:
		s.Open++
	case completed, withErrors:
		s.Done++
	case aborted:
		s.Failed++
	case canceled:
		s.Canceled++
	}
	s.First = earlier(s.First, p.Created)
	if p.Started.IsZero() {
		return
	}
	end := firstOf(p.Handed, p.Ended)
	s.spans = append(s.spans, span{p.Started, end})
	s.Last = later(s.Last, firstOf(end, p.Started))
	if !end.IsZero() {
		s.took = append(s.took, max(0, end.Sub(p.Started)))
	}
}

func (s *stepStat) finish() {
	if len(s.took) == 0 {
		return
	}
	s.Ended = len(s.took)
	slices.Sort(s.took)
	s.Median = s.took[len(s.took)/2]
	s.P95 = s.took[len(s.took)*95/100]
	s.took = nil
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
