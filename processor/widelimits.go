package processor

import (
	"maps"

	"github.com/leasestream/leasestream/eventstream"
)

// load is what other workers handle in the documents of one run, as the last listing
// showed it. A run with child streams has its limits in its own document alone, and
// they hold for all of its documents together.
type load struct {
	limits  map[string]int            // of the run, by step
	running map[string]map[string]int // :: document → step → events
}

// loads are those of the runs with child streams, by run.
type loads map[string]*load

// add takes in what the listing shows of a document in which this worker handled
// its own share.
func (l loads) add(doc string, s eventstream.Summary, own map[string]int) {
	name := runNameOf(doc)
	if s.Status.Final() || name == doc && s.Batches == 0 {
		return
	}
	if l[name] == nil {
		l[name] = &load{running: map[string]map[string]int{}}
	}
	others := map[string]int{}
	for step, n := range s.Running {
		others[step] = max(0, n-own[step])
	}
	l[name].running[doc] = others
	if name == doc {
		l[name].limits = s.Limits
	}
}

// loadOf is nil for a run that has no child streams, as far as is known.
func (w *worker) loadOf(doc string) *load {
	if known := w.loads.Load(); known != nil {
		return (*known)[runNameOf(doc)]
	}
	return nil
}

// limitsOf are those that hold in a document, which may have some of its own.
func (w *worker) limitsOf(doc string, own map[string]int) map[string]int {
	known := w.loadOf(doc)
	if runNameOf(doc) == doc || known == nil || known.limits == nil {
		return own
	}
	limits := maps.Clone(known.limits)
	maps.Copy(limits, own)
	return limits
}

// elsewhere is how many events of a step are handled in the other documents of the
// run: by other workers, as of the last listing, and by this one, as it knows itself.
func (w *worker) elsewhere(doc, step string) int {
	total := w.handledElsewhere(doc, step)
	if known := w.loadOf(doc); known != nil {
		for other, running := range known.running {
			if other != doc {
				total += running[step]
			}
		}
	}
	return total
}

// handled counts this worker's claims, by document and step.
func (w *worker) handled() map[string]map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := make(map[string]map[string]int, len(w.running))
	for doc, there := range w.running {
		counts[doc] = maps.Clone(there.steps)
	}
	return counts
}

// handledElsewhere counts this worker's claims of a step in the other documents of
// the run.
func (w *worker) handledElsewhere(doc, step string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, there := range w.running {
		if other != doc && !isOtherRun(other, doc) {
			n += there.steps[step]
		}
	}
	return n
}

// hasRoom reports whether the run may handle one more event of the step. Where other
// documents of the run count, it may be one too many until the next listing.
func (c *claiming) hasRoom(s *eventstream.Stream, step *Step) bool {
	here := s.Running(step.Name)
	switch {
	case step.limitIn(c.limits) == 0:
		return true
	case !step.hasRoom(c.limits, here):
		return false // there is none before the stream changes, and then it is found again
	case runNameOf(c.stream) == c.stream && !hasBatches(s):
		return true
	case !step.hasRoom(c.limits, here+c.w.elsewhere(c.stream, step.Name)):
		c.full = true // there may be some without any change here
		return false
	}
	return true
}

// together is the summary of a document, with the limits and the running events of
// all documents of its run.
func (w *worker) together(doc string, s eventstream.Summary) eventstream.Summary {
	if w.loadOf(doc) == nil || s.Running == nil {
		return s
	}
	s.Limits = w.limitsOf(doc, s.Limits)
	s.Running = maps.Clone(s.Running)
	for step := range s.Ready {
		s.Running[step] += w.elsewhere(doc, step)
	}
	return s
}
