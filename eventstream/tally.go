package eventstream

// tally is what the successors of an event add up to.
type tally struct {
	own      int32 // successors in the event's own thread
	open     int32 // those that are not final
	bad      int32 // those that are aborted, canceled or carry WithError
	branches int64 // how many branches of a split they stand for
	ok       int64 // how many of them ended well
	failed   int64 // how many of them failed
}

func (t *tally) add(d share) { t.count(d, 1) }
func (t *tally) sub(d share) { t.count(d, -1) }

func (t *tally) count(d share, sign int32) {
	t.own += sign * int32(d.own)
	t.open += sign * int32(d.open)
	t.bad += sign * int32(d.bad)
	t.branches += int64(sign) * int64(d.branches)
	t.ok += int64(sign) * int64(d.ok)
	t.failed += int64(sign) * int64(d.failed)
}

// share is what one event adds to the tally of its predecessor.
type share struct {
	own, open, bad       uint8 // 0 or 1
	branches, ok, failed int32
}

// share works out what an event adds to its predecessor's tally.
func (e *Event) share() (sh share) {
	switch {
	case !e.has(flagLinked):
		return share{}
	case !e.status.Final():
		sh.open = 1
	case e.status != Completed || e.has(flagWithError):
		sh.bad = 1
	}
	switch {
	case e.thread == e.prev.thread:
		sh.own = 1
	case e.has(flagBatch):
		sh.branches, sh.ok, sh.failed = e.batchResult()
	default:
		sh.branches = 1
		if e.status.Final() {
			sh.ok, sh.failed = branchResult(e.thread.last)
		}
	}
	return sh
}

// batchResult counts the branches of a batch event. Those that nobody reported
// ended as the event did.
func (e *Event) batchResult() (branches, ok, failed int32) {
	branches, ok, failed = e.branches, e.okBranches, e.failedBranches
	switch {
	case e.status == Completed:
		ok = max(0, branches-failed)
	case e.status.Final():
		failed = max(0, branches-ok)
	}
	return branches, ok, failed
}

// branchResult judges a branch by the last event of its thread.
func branchResult(last *Event) (ok, failed int32) {
	if last == nil || last.failedBranch() {
		return 0, 1
	}
	return 1, 0
}

// failedBranch reports whether the branch that ends in this event failed: the
// event did, or it is a split without a join and one of its branches did.
func (e *Event) failedBranch() bool {
	if e.status == Aborted || e.status == Canceled {
		return true
	}
	return e.tally.failed > 0 && !e.has(flagJoin)
}

// report passes what an event adds to its predecessor's tally on, and what
// depends on that. Where no foreign hand was at work, nothing final depends on an
// event that changes, and this ends at once.
func (s *Stream) report(e *Event) {
	if s.give(e) && e.prev.status.Final() {
		s.report(e.prev)
	}
	if t := e.thread; t.last == e && t.first != e {
		s.reportFirst(t)
	}
}

// reportFirst reports anew of a branch whose last event is another or has
// changed.
func (s *Stream) reportFirst(t *thread) {
	if t.first != nil && t.first.status.Final() {
		s.report(t.first)
	}
}

// give brings the tally of an event's predecessor up to date; it reports whether
// that was needed.
func (s *Stream) give(e *Event) bool {
	if e.prev == nil {
		return false
	}
	now := e.share()
	if now == e.given {
		return false
	}
	s.touch(e)
	s.touch(e.prev)
	e.prev.tally.add(now)
	e.prev.tally.sub(e.given)
	e.given = now
	return true
}

// tallyAll works out all tallies anew.
func (s *Stream) tallyAll() {
	inOrder := true
	for _, e := range s.events {
		e.tally, e.given = tally{}, share{}
		inOrder = inOrder && (e.prev == nil || e.prev.pos < e.pos)
	}
	s.tally(inOrder)
}

// tally works out tallies that are empty. A branch is judged by the last event of
// its thread, whose own tally has to be whole by then: successors come first. In
// documents as we write them, each event is after its prev.
func (s *Stream) tally(inOrder bool) {
	events := s.events
	if !inOrder {
		events = shallowFirst(events)
	}
	for i := len(events) - 1; i >= 0; i-- {
		s.give(events[i])
	}
}

// shallowFirst orders events by the depth of their thread, else as they come.
// Most documents have few depths.
func shallowFirst(events []*Event) []*Event {
	var start [maxDepth + 2]int
	for _, e := range events {
		start[e.thread.depth+1]++
	}
	for depth := range maxDepth + 1 {
		start[depth+1] += start[depth]
	}
	ordered := make([]*Event, len(events))
	for _, e := range events {
		ordered[start[e.thread.depth]] = e
		start[e.thread.depth]++
	}
	return ordered
}
