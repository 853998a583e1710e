package eventstream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dump writes down everything that the indexes of a stream say, so that a stream
// that was edited can be held against one that was read.
func (s *Stream) Dump() string {
	var b strings.Builder
	root := "none"
	if s.root != nil {
		root = s.root.id
	}
	fmt.Fprintf(&b, "size %d blank %v root %s paused %v %d superseded %d unsettled %v loose %v irregular %v\n",
		s.size, s.blank, root, s.pausedRun, s.paused, s.superseded, s.unsettled, s.loose, s.irregular)
	for status := range s.byStatus {
		fmt.Fprintf(&b, "%v %d %v\n", Status(status), s.byStatus[status].n, s.ids(&s.byStatus[status]))
	}
	fmt.Fprintf(&b, "timed %d %v\nbatches %d %v\n", s.timed.n, s.ids(&s.timed), s.batches.n, s.ids(&s.batches))
	for i, e := range s.events {
		fmt.Fprintf(&b, "%d %s\n", i, e.dump())
		if s.Event(e.id) != e {
			fmt.Fprintf(&b, "event %s is not found\n", e.id)
		}
	}
	fmt.Fprintf(&b, "%d ids\n", s.byID.used)
	threads := maps.Clone(s.oddThreads)
	for _, e := range s.events {
		if s.findThread(e.thread.name) != e.thread {
			fmt.Fprintf(&b, "thread %q is not found\n", e.thread.name)
		}
		threads[e.thread.name] = e.thread
	}
	for _, name := range slices.Sorted(maps.Keys(threads)) {
		t := threads[name]
		first, last := "none", "none"
		if t.last != nil {
			first, last = t.first.id, t.last.id
		}
		fmt.Fprintf(&b, "thread %q first %s last %s live %d maxStep %d maxChild %d depth %d\n",
			t.name, first, last, t.live, t.maxStep, t.maxChild, t.depth)
	}
	for _, name := range slices.Sorted(maps.Keys(s.topics)) {
		if t := s.topics[name]; *t != (topic{name: t.name}) {
			fmt.Fprintf(&b, "topic %q ready %d running %d\n", t.name, t.ready, t.running)
		}
	}
	return b.String()
}

func (s *Stream) ids(set *bitset) []string {
	ids := []string{}
	for e := range s.members(set, 0) {
		ids = append(ids, e.id)
	}
	return ids
}

func (e *Event) dump() string {
	prev, next := "none", []string{}
	if e.prev != nil {
		prev = e.prev.id
	}
	for _, n := range e.next {
		next = append(next, n.id)
	}
	return fmt.Sprintf("%s pos %d step %d thread %s topic %s prev %s next %v wake %d tally %v given %v policy %v status %v flags %b batch %d %d %d tag %d pre %q raw %q",
		e.id, e.pos, e.step, e.thread.name, e.topic.name, prev, next, e.wake, e.tally, e.given, e.policy, e.status, e.flags,
		e.branches, e.okBranches, e.failedBranches, e.tagEnd, e.pre, e.raw)
}

// Pretend makes the document count as n bytes long.
func (s *Stream) Pretend(n int) { s.size = n }

// SortedTopics are the names of all topics with events that wait or run.
func (sum Summary) SortedTopics() []string {
	names := slices.Concat(slices.Collect(maps.Keys(sum.Ready)), slices.Collect(maps.Keys(sum.Running)))
	slices.SortFunc(names, cmp.Compare[string])
	return slices.Compact(names)
}
