package eventstream_test

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// naive is the model of an Event-Stream at its simplest: plain structs, and
// everything worked out anew by looking at all events. It is what the real one
// is held against.
type naive struct {
	events []*naiveEvent
	now    time.Time
	paused time.Time
}

type naiveEvent struct {
	id, name, status string
	prev             string
	next             []string // live ones
	by, key          string
	withError        bool
	join, policy     string
	attempt          int
	failures         int
	attempts         int // elements <Attempt>
	output           string
	started, due     time.Time
	paused           time.Time
	timeout          time.Duration
	superseded       bool
	loose            bool // not in the next of its prev, by a foreign hand
	branches         int
	ok, failed       int
}

func (e *naiveEvent) thread() string {
	thread, _ := eventstream.SplitID(e.id)
	return thread
}

func (e *naiveEvent) step() int {
	_, step := eventstream.SplitID(e.id)
	return step
}

func (e *naiveEvent) final() bool {
	return e.status == "completed" || e.status == "aborted" || e.status == "canceled"
}

func (e *naiveEvent) running() bool {
	return e.status == "inprocess" && len(e.next) == 0 && e.key != ""
}

func (m *naive) clone() *naive {
	c := *m
	c.events = nil
	for _, e := range m.events {
		n := *e
		n.next = slices.Clone(e.next)
		c.events = append(c.events, &n)
	}
	return &c
}

func (m *naive) get(id string) *naiveEvent {
	for _, e := range m.events {
		if e.id == id {
			return e
		}
	}
	return nil
}

func (m *naive) root() *naiveEvent { return m.events[0] }

func (m *naive) live() []*naiveEvent {
	return slices.DeleteFunc(slices.Clone(m.events), func(e *naiveEvent) bool { return e.superseded })
}

func (m *naive) next(e *naiveEvent) (next []*naiveEvent) {
	for _, id := range e.next {
		next = append(next, m.get(id))
	}
	return next
}

// ancestors are the predecessors of e, nearest first.
func (m *naive) ancestors(e *naiveEvent) (up []*naiveEvent) {
	for p := m.get(e.prev); p != nil; p = m.get(p.prev) {
		up = append(up, p)
	}
	return up
}

// reach is e and all that can be reached from it through next.
func (m *naive) reach(e *naiveEvent) []*naiveEvent {
	all := []*naiveEvent{e}
	for _, n := range m.next(e) {
		all = append(all, m.reach(n)...)
	}
	return all
}

func (m *naive) last(thread string) (last *naiveEvent) {
	for _, e := range m.live() {
		if e.thread() == thread && (last == nil || e.step() > last.step()) {
			last = e
		}
	}
	return last
}

// own are the successors of p in its own thread: its join, if it is a split.
func (m *naive) own(p *naiveEvent) (own []*naiveEvent) {
	for _, n := range m.next(p) {
		if n.thread() == p.thread() {
			own = append(own, n)
		}
	}
	return own
}

// counts are those of a split: branches, ended well, failed.
func (m *naive) counts(p *naiveEvent) (branches, ok, failed int) {
	for _, b := range m.next(p) {
		if b.thread() == p.thread() {
			continue
		}
		n, good, bad := m.branch(b)
		branches, ok, failed = branches+n, ok+good, failed+bad
	}
	return branches, ok, failed
}

func (m *naive) branch(b *naiveEvent) (branches, ok, failed int) {
	if b.branches > 0 {
		ok, failed = b.ok, b.failed
		switch {
		case b.status == "completed":
			ok = max(0, b.branches-failed)
		case b.final():
			failed = max(0, b.branches-ok)
		}
		return b.branches, ok, failed
	}
	switch {
	case !b.final():
		return 1, 0, 0
	case m.branchFailed(b):
		return 1, 0, 1
	}
	return 1, 1, 0
}

func (m *naive) branchFailed(b *naiveEvent) bool {
	last := m.last(b.thread())
	if last.status == "aborted" || last.status == "canceled" {
		return true
	}
	_, _, failed := m.counts(last)
	return last.join == "" && failed > 0
}

// verdict is what the policy of a split without a join says: failed, met or
// nothing yet.
func (m *naive) verdict(p *naiveEvent) string {
	if len(m.own(p)) > 0 {
		return ""
	}
	branches, ok, failed := m.counts(p)
	kind, arg, _ := strings.Cut(p.policy, ":")
	n, _ := strconv.Atoi(strings.TrimSuffix(arg, "%"))
	switch {
	case kind == "failfast" && failed > 0:
		return "failed"
	case kind == "first" && ok >= n:
		return "met"
	case kind == "first" && branches-failed < n:
		return "failed"
	case kind == "tolerate" && strings.HasSuffix(arg, "%") && failed > branches*n/100:
		return "failed"
	case kind == "tolerate" && !strings.HasSuffix(arg, "%") && failed > n:
		return "failed"
	}
	return ""
}

func (m *naive) cancelBelow(e *naiveEvent, by string) {
	for _, n := range m.next(e) {
		for _, x := range m.reach(n) {
			if !x.final() {
				x.status, x.by, x.withError = "canceled", by, false
			}
		}
	}
}

func (m *naive) finish(e *naiveEvent, status, by string) {
	m.cancelBelow(e, by)
	e.status = status
	if by != "" {
		e.by = by
	}
	m.propagate(m.get(e.prev))
}

// propagate is the five rules, from p upwards.
func (m *naive) propagate(p *naiveEvent) {
	for ; p != nil; p = m.get(p.prev) {
		if p.status != "inprocess" || len(p.next) == 0 || !m.advance(p) {
			return
		}
	}
}

func (m *naive) advance(p *naiveEvent) (ended bool) {
	switch m.verdict(p) {
	case "failed":
		m.cancelBelow(p, "policy")
		p.status, p.by, p.withError = "aborted", "policy", false
		return true
	case "met":
		m.cancelBelow(p, "policy")
	}
	bad := false
	for _, n := range m.next(p) {
		if !n.final() {
			return false
		}
		bad = bad || n.status != "completed" || n.withError
	}
	if p.join != "" && len(m.own(p)) == 0 {
		p.due = time.Time{}
		m.append(p, p.join, m.nextStep(p.thread()))
		return false
	}
	p.status, p.withError = "completed", bad
	return true
}

func (m *naive) nextStep(thread string) string {
	step := -1
	for _, e := range m.events {
		if e.thread() == thread {
			step = max(step, e.step())
		}
	}
	return eventstream.JoinID(thread, step+1)
}

func (m *naive) append(p *naiveEvent, name, id string) *naiveEvent {
	e := &naiveEvent{id: id, name: name, status: "init", prev: p.id}
	m.events = append(m.events, e)
	p.next = append(p.next, id)
	return e
}

// highestBranch is the highest number of a thread split off a thread, ever.
func (m *naive) highestBranch(thread string) int {
	highest := 0
	for _, e := range m.events {
		t := e.thread()
		for t != "" {
			parent, n := eventstream.SplitID(t)
			if parent == thread {
				highest = max(highest, n)
			}
			t = parent
		}
	}
	return highest
}

func (m *naive) split(e *naiveEvent, names []string, numbers, batch []int, join, policy string, due time.Time) bool {
	if e.final() || len(e.next) > 0 {
		return false
	}
	before := m.clone()
	e.status, e.due = "inprocess", due
	if join != "" {
		e.join = join
	}
	if policy != "" && policy != "all" {
		e.policy = policy
	}
	unused := m.highestBranch(e.thread()) + 1
	used := map[int]bool{}
	for i, name := range names {
		n := numbers[i]
		if n != 0 {
			thread := eventstream.JoinID(e.thread(), n)
			switch {
			case used[n] || before.last(thread) != nil:
				*m = *before
				return false
			case slices.ContainsFunc(before.events, func(x *naiveEvent) bool { return x.thread() == thread }):
				n = 0
			}
		}
		if n == 0 {
			n = unused
		}
		used[n] = true
		unused = max(unused, n+1)
		b := m.append(e, name, eventstream.JoinID(eventstream.JoinID(e.thread(), n), 0))
		b.branches = batch[i]
	}
	if len(names) > 0 {
		m.propagate(e)
	} else if m.advance(e) {
		m.propagate(m.get(e.prev))
	}
	return true
}

// settle is what an edit does first, after a foreign hand.
func (m *naive) settle() {
	m.cancelStranded()
	for _, e := range m.live() {
		if e.status == "init" && len(e.next) > 0 {
			e.status, e.due = "inprocess", time.Time{}
		}
	}
	for again := true; again; again = m.cancelStranded() {
		for _, p := range m.decided() {
			m.propagate(p)
		}
	}
}

func (m *naive) cancelStranded() bool {
	stranded := slices.DeleteFunc(m.live(), func(e *naiveEvent) bool { return e.final() || !m.isStranded(e) })
	for _, e := range stranded {
		e.status, e.by, e.withError = "canceled", "", false
	}
	return len(stranded) > 0
}

func (m *naive) isStranded(e *naiveEvent) bool {
	return slices.ContainsFunc(m.ancestors(e), func(p *naiveEvent) bool { return p.final() || p.superseded })
}

// decided are the events that wait for successors which have decided them,
// deepest thread first, and last in the document first.
func (m *naive) decided() (decided []*naiveEvent) {
	for _, p := range m.live() {
		if p.status != "inprocess" || len(p.next) == 0 {
			continue
		}
		open := slices.ContainsFunc(m.next(p), func(n *naiveEvent) bool { return !n.final() })
		if !open || m.verdict(p) != "" {
			decided = append(decided, p)
		}
	}
	slices.Reverse(decided)
	slices.SortStableFunc(decided, func(a, b *naiveEvent) int {
		return strings.Count(b.id, ".") - strings.Count(a.id, ".")
	})
	return decided
}

func (m *naive) heldByPause(e *naiveEvent) bool {
	return !m.paused.IsZero() || slices.ContainsFunc(append(m.ancestors(e), e), func(p *naiveEvent) bool { return !p.paused.IsZero() })
}

func (m *naive) claimable(e *naiveEvent) bool {
	if e.superseded || e.status != "init" || len(e.next) > 0 || e.due.After(m.now) || m.heldByPause(e) {
		return false
	}
	return !m.isStranded(e)
}

// wake is when an event needs a look; zero: never.
func (m *naive) wake(e *naiveEvent) time.Time {
	switch {
	case e.superseded || e.final():
	case !e.running() && m.heldByPause(e):
	case e.status == "init" || len(e.next) > 0:
		return e.due
	case e.timeout > 0 && !e.started.IsZero():
		return e.started.Add(e.timeout)
	}
	return time.Time{}
}

// resume gives back the time of a pause that began at since to what waits at and
// below top; nil is everything.
func (m *naive) resume(top *naiveEvent, since time.Time) {
	for _, e := range m.live() {
		if top != nil && e != top && !slices.Contains(m.ancestors(e), top) {
			continue
		}
		end := m.now
		for _, p := range append(m.ancestors(e), e) {
			if !p.paused.IsZero() && p.paused.Before(end) {
				end = p.paused
			}
		}
		if !m.paused.IsZero() && m.paused.Before(end) {
			end = m.paused
		}
		begin := since
		if e.started.After(begin) {
			begin = e.started
		}
		pause := end.Sub(begin)
		switch {
		case pause <= 0 || e.status != "inprocess":
		case len(e.next) > 0:
			if !e.due.IsZero() {
				e.due = e.due.Add(pause)
			}
		case e.key == "" && e.timeout > 0 && !e.started.IsZero():
			e.timeout += pause
		}
	}
}

// reopen is DESIGN's retry; false if there is nothing to do.
func (m *naive) reopen(below, from *naiveEvent, by string) bool {
	picks, closed := m.picks(below, from)
	if len(picks)+len(closed) == 0 {
		return false
	}
	before := m.clone()
	for _, e := range picks {
		for _, x := range m.superseded(e) {
			m.retire(x)
		}
	}
	for _, e := range closed {
		for _, x := range m.supersededAbove(e) {
			m.retire(x)
		}
	}
	for _, e := range picks {
		*e = naiveEvent{id: e.id, name: e.name, prev: e.prev, status: "init", by: by, loose: e.loose,
			attempt: e.attempt, attempts: e.attempts, timeout: e.timeout, paused: e.paused, branches: e.branches}
	}
	for _, e := range append(slices.Clone(picks), closed...) {
		for _, p := range append(m.ancestors(e), e) {
			if p.final() {
				p.status, p.by, p.due, p.withError = "inprocess", "", time.Time{}, false
			}
		}
	}
	for _, e := range append(slices.Clone(picks), closed...) {
		for _, p := range append(m.ancestors(e), e) {
			if p.status == "inprocess" && len(p.next) > 0 && m.verdict(p) != "" {
				*m = *before
				return false
			}
		}
	}
	for _, e := range closed {
		m.propagate(e)
	}
	return true
}

func (m *naive) retire(x *naiveEvent) {
	if x.superseded {
		return
	}
	if !x.final() {
		x.status = "canceled"
	}
	x.superseded, x.next = true, nil
	if p := m.get(x.prev); p != nil {
		p.next = slices.DeleteFunc(p.next, func(id string) bool { return id == x.id })
	}
}

func (m *naive) picks(below, from *naiveEvent) (picks, closed []*naiveEvent) {
	candidates := map[string]bool{}
	for _, e := range m.live() {
		failed := e.status == "aborted" || e.status == "canceled" || e.status == "completed" && e.failed > 0 && e.branches > 0
		inside := below == nil || e == below || slices.Contains(m.ancestors(e), below)
		if from == nil && failed && inside && !m.missed(e) || e == from {
			candidates[e.id] = true
		}
	}
	runsAgain := func(e *naiveEvent) bool {
		branches, _, _ := m.counts(e)
		n, _ := strconv.Atoi(strings.TrimPrefix(e.policy, "first:"))
		return e == from || len(e.next) == 0 || branches > 0 && strings.HasPrefix(e.policy, "first:") && branches < n
	}
	victims := []string{}
	for _, e := range m.live() {
		if e.status != "canceled" || e.by != "policy" || m.missed(e) {
			continue
		}
		for _, p := range m.ancestors(e) {
			hasPick := slices.ContainsFunc(m.live(), func(x *naiveEvent) bool {
				return candidates[x.id] && !m.isDetached(x) && runsAgain(x) && slices.Contains(m.ancestors(x), p)
			})
			if p.status == "aborted" && p.by == "policy" && hasPick {
				victims = append(victims, e.id)
			}
		}
	}
	for _, id := range victims {
		candidates[id] = true
	}
	for _, e := range m.live() {
		switch {
		case !candidates[e.id] || m.isDetached(e):
		case runsAgain(e):
			picks = append(picks, e)
		default:
			closed = append(closed, e)
		}
	}
	dropped := func(e *naiveEvent) bool {
		for _, y := range picks {
			if y != e && (slices.Contains(m.ancestors(e), y) || slices.Contains(m.superseded(y), e)) {
				return true
			}
		}
		for _, y := range closed {
			if y != e && slices.Contains(m.supersededAbove(y), e) {
				return true
			}
		}
		return false
	}
	keptPicks := slices.DeleteFunc(slices.Clone(picks), dropped)
	keptClosed := slices.DeleteFunc(slices.Clone(closed), dropped)
	return keptPicks, keptClosed
}

func (m *naive) isDetached(e *naiveEvent) bool {
	return slices.ContainsFunc(append(m.ancestors(e), e), func(p *naiveEvent) bool { return p.loose })
}

// superseded is what a retry of e takes out of the run.
func (m *naive) superseded(e *naiveEvent) (gone []*naiveEvent) {
	return append(m.reach(e)[1:], m.supersededAbove(e)...)
}

// supersededAbove is the join of every ancestor, with all that follows it.
func (m *naive) supersededAbove(e *naiveEvent) (gone []*naiveEvent) {
	child := e
	for _, p := range m.ancestors(e) {
		if child.thread() != p.thread() {
			for _, join := range m.own(p) {
				gone = append(gone, m.reach(join)...)
			}
		}
		child = p
	}
	return gone
}

// missed reports whether a split first:N above was met without the branch of e.
func (m *naive) missed(e *naiveEvent) bool {
	child := e
	for _, p := range m.ancestors(e) {
		n, err := strconv.Atoi(strings.TrimPrefix(p.policy, "first:"))
		isBranch := child.thread() != p.thread() && slices.Contains(p.next, child.id)
		if _, ok, _ := m.counts(p); err == nil && strings.HasPrefix(p.policy, "first:") && isBranch && ok >= n {
			if _, good, _ := m.branch(child); good == 0 {
				return true
			}
		}
		child = p
	}
	return false
}
