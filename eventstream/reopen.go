package eventstream

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrNothingToReopen is matched when there is no event that Reopen could pick, or
// none whose retry could change anything.
var ErrNothingToReopen = errors.New("nothing to reopen")

// ReopenOptions choose what Reopen picks; nil picks every failed and canceled
// last event of the run.
type ReopenOptions struct {
	// Below restricts the picks to those at and below this event.
	Below *Event
	// From picks this event instead, whatever its status.
	From *Event
	// Input replaces the message of the picked events; nil keeps theirs. Batch
	// events keep theirs in any case.
	Input *Payload
	// By is who retries; it is kept with the picked events.
	By string
}

// Reopen lets a run go on from where it failed. The picked events go back to
// init with their retry budget restored, what followed them and the joins above
// them is superseded, and their closed ancestors are open again. Finished
// branches keep their results, and a fresh join is made when all have ended.
//
// It returns the picked events, in the order of the document. ErrNothingToReopen
// if there are none, or if a split above one of them would be decided as before
// by its other branches. Nothing is changed if there is an error.
func (s *Stream) Reopen(o *ReopenOptions) ([]*Event, error) {
	if s.tx == nil {
		return nil, ErrNoEdit
	}
	if o == nil {
		o = &ReopenOptions{}
	}
	for _, e := range []*Event{o.Below, o.From} {
		if e != nil {
			if err := s.editable(e); err != nil {
				return nil, err
			}
		}
	}
	r := &retry{s: s, by: o.By, isPick: map[*Event]bool{}}
	if err := r.setInput(o.Input); err != nil {
		return nil, err
	}
	r.pick(o)
	if len(r.picks)+len(r.closed) == 0 {
		return nil, fmt.Errorf("event-stream %q: %w: no event of the run failed or was canceled", s.Name(), ErrNothingToReopen)
	}
	if err := s.atomic(r.run); err != nil {
		return nil, err
	}
	s.steer()
	return r.picks, nil
}

// retry is one Reopen.
type retry struct {
	s        *Stream
	by       string
	children []child // changes to the children of the picked events, that of the message last
	picks    []*Event
	closed   []*Event // ended around branches, and need only be opened again
	isPick   map[*Event]bool
}

func (r *retry) setInput(input *Payload) error {
	r.children = []child{{name: "Output"}}
	if err := checkValue(r.by); err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	if input == nil {
		return nil
	}
	raw, err := input.element("Input")
	if err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	r.children = append(r.children, child{name: "Input", raw: raw})
	return nil
}

// pick finds the events to reopen.
func (r *retry) pick(o *ReopenOptions) {
	if o.From != nil {
		r.add(o.From, true)
	} else {
		r.pickFailed(o.Below)
	}
	r.addVictims()
	gone := r.doomedJoins()
	r.picks = slices.DeleteFunc(r.picks, func(e *Event) bool { return r.isSuperseded(e, gone) })
	r.closed = slices.DeleteFunc(r.closed, func(e *Event) bool { return r.isSuperseded(e, gone) })
	for _, list := range [][]*Event{r.picks, r.closed} {
		slices.SortFunc(list, func(a, b *Event) int { return int(a.pos - b.pos) })
	}
}

// add takes an event into one of the lists. One that is not in the next of its
// prev is left out: nothing would wait for it.
func (r *retry) add(e *Event, pick bool) {
	if r.s.isDetached(e) {
		return
	}
	if pick {
		r.picks = append(r.picks, e)
		r.isPick[e] = true
	} else {
		r.closed = append(r.closed, e)
	}
}

func (r *retry) pickFailed(top *Event) {
	consider := func(e *Event) {
		if (top == nil || below(e, top)) && !e.isMissed() {
			r.add(e, e.mustRunAgain())
		}
	}
	for _, status := range []Status{Aborted, Canceled} {
		for e := range r.s.ByStatus(status) {
			consider(e)
		}
	}
	// A batch event completes although some of its branches failed.
	for e := range r.s.members(&r.s.batches, 0) {
		if e.status == Completed && e.failedBranches > 0 {
			consider(e)
		}
	}
}

// mustRunAgain tells an event that has to run again from one that ended around
// branches, which run again in its place: unless no result of theirs would do.
func (e *Event) mustRunAgain() bool {
	tooFew := e.policy.kind == policyFirst && e.tally.branches < int64(e.policy.n)
	return len(e.next) == 0 || e.tally.branches > 0 && tooFew
}

// isMissed reports whether the event belongs to a branch without which the
// policy first:N of a split was met: nobody needs it.
func (e *Event) isMissed() bool {
	for ; e.prev != nil; e = e.prev {
		p := e.prev
		if e.thread != p.thread && e.given.ok == 0 && p.policy.kind == policyFirst && p.policy.judge(p.tally) == decidedMet {
			return true
		}
	}
	return false
}

// addVictims adds what the policy of an aborted splitter above a pick canceled:
// those branches did not fail, and the split cannot succeed without them.
func (r *retry) addVictims() {
	aborted := map[*Event]bool{}
	for _, e := range r.picks {
		for p := e.prev; p != nil; p = p.prev {
			if p.status == Aborted && p.Attr("by") == ByPolicy {
				aborted[p] = true
			}
		}
	}
	if len(aborted) == 0 {
		return
	}
	known := map[*Event]bool{}
	for _, e := range slices.Concat(r.picks, r.closed) {
		known[e] = true
	}
	for e := range r.s.ByStatus(Canceled) {
		if !known[e] && e.Attr("by") == ByPolicy && !e.isMissed() && e.hasAncestor(aborted) {
			r.add(e, e.mustRunAgain())
		}
	}
}

func (e *Event) hasAncestor(set map[*Event]bool) bool {
	for p := e.prev; p != nil; p = p.prev {
		if set[p] {
			return true
		}
	}
	return false
}

// doomedJoins are the joins that were made with the old results of the picks.
func (r *retry) doomedJoins() map[*Event]bool {
	doomed := map[*Event]bool{}
	seen := map[*Event]bool{}
	for _, e := range slices.Concat(r.picks, r.closed) {
		for ; e.prev != nil; e = e.prev {
			if p := e.prev; e.thread != p.thread && !seen[p] {
				seen[p] = true
				for _, join := range p.joins() {
					doomed[join] = true
				}
			}
		}
	}
	return doomed
}

// joins are the successors in the event's own thread. Beside branches, that is
// the join.
func (e *Event) joins() (joins []*Event) {
	if e.tally.own == 0 {
		return nil
	}
	for _, n := range e.next {
		if n.thread == e.thread {
			joins = append(joins, n)
		}
	}
	return joins
}

// isSuperseded reports whether another pick takes e out of the run.
func (r *retry) isSuperseded(e *Event, doomed map[*Event]bool) bool {
	return doomed[e] || e.hasAncestor(doomed) || e.hasAncestor(r.isPick)
}

func (r *retry) run() error {
	for _, e := range r.picks {
		r.s.supersede(e, e.next)
		r.openAncestors(e)
		changes := []change{set("status", Init.String())}
		for _, name := range []string{"failures", "key", "started", "due", "msg", "join", "policy", "next", "ok", "failed"} {
			changes = append(changes, unset(name))
		}
		children := r.children
		if e.has(flagBatch) {
			changes = append(changes, set("reopened", strconv.Itoa(e.Reopened()+1)))
			children = children[:1] // without the message
		}
		r.s.apply(e, append(changes, setOrUnset("by", r.by)), children...)
	}
	for _, e := range r.closed {
		r.openAncestors(e)
		r.openAgain(e)
	}
	if err := r.checkPolicies(); err != nil {
		return err
	}
	for _, e := range r.closed {
		r.s.propagate(e)
	}
	return nil
}

// openAncestors opens what closed above e, and supersedes the joins that were
// made with its old result.
func (r *retry) openAncestors(e *Event) {
	for p := e.prev; p != nil; e, p = p, p.prev {
		if e.thread != p.thread {
			r.s.supersede(p, p.joins())
		}
		r.openAgain(p)
	}
}

func (r *retry) openAgain(p *Event) {
	if !p.status.Final() {
		return
	}
	changes := []change{set("status", Inprocess.String()), unset("by"), unset("due")}
	if p.status != Completed || p.has(flagWithError) {
		changes = append(changes, unset("msg"))
	}
	r.s.apply(p, changes)
}

// checkPolicies refuses a retry that the policies of the splits above would undo
// at once.
func (r *retry) checkPolicies() error {
	check := func(e, p *Event) error {
		if !p.isOpenParent() || p.tally.own > 0 || p.policy.judge(p.tally) == undecided {
			return nil
		}
		return fmt.Errorf("reopen event %s: %w: policy %v of split %s is decided by its other branches; retry those as well, or from %s",
			e.id, ErrNothingToReopen, p.policy, p.id, p.id)
	}
	for _, e := range r.picks {
		for p := e.prev; p != nil; p = p.prev {
			if err := check(e, p); err != nil {
				return err
			}
		}
	}
	for _, e := range r.closed {
		for p := e; p != nil; p = p.prev {
			if err := check(e, p); err != nil {
				return err
			}
		}
	}
	return nil
}
