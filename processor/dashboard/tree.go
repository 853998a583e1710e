package dashboard

import (
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// shape is how the events of a run hang together.
type shape struct {
	// followers are the events by the one they follow, nil for none: branches first,
	// by number, then what comes after them in the same thread.
	followers map[*eventstream.Event][]event
	docs      []*document
}

func shapeOf(docs []*document) *shape {
	t := &shape{map[*eventstream.Event][]event{}, docs}
	for _, d := range docs {
		for e := range d.Stream.Events() {
			if prev := e.Prev(); prev != nil || d.above == nil {
				t.followers[prev] = append(t.followers[prev], event{d, e})
			}
		}
	}
	for prev, list := range t.followers {
		order := func(a, b event) int {
			if own := sameThread(a.Event, prev) - sameThread(b.Event, prev); own != 0 {
				return own
			}
			return eventstream.CompareIDs(a.Event.ID(), b.Event.ID())
		}
		if !slices.IsSortedFunc(list, order) { // as it is in documents of ours
			slices.SortStableFunc(list, order)
		}
	}
	return t
}

func sameThread(e, prev *eventstream.Event) int {
	if prev != nil && e.Thread() == prev.Thread() {
		return 1
	}
	return 0
}

// kin is what makes branches of a split equal to who looks at it.
type kin struct {
	step  string
	state state
}

// How many of equal siblings are shown one by one; the others are counted.
const (
	shownEqual   = 3
	shownFailed  = 20
	shownRunning = 6
)

// shownOf is how many of n siblings are shown one by one.
func (k kin) shownOf(n int) int {
	switch {
	case n <= shownEqual:
		return n
	case k.state.Failed():
		return min(n, shownFailed)
	case k.state == running || k.state == outside || k.state == following:
		return min(n, shownRunning)
	}
	return 0
}

// group is siblings that are counted and not shown.
type group struct {
	Count int
	Step  string
	State state
	Under string // id of the split
}

// Filter selects them in the table of events. What became of a branch may stand in
// another event than its first one, which the table has.
func (g group) Filter() string {
	f := eventFilter{Step: g.Step, Under: g.Under, State: g.State}
	switch g.State {
	case aborted, withErrors:
		f.State = failedEvents
	case completed, canceled, superseded:
	default:
		f.State = openEvents
	}
	return f.Query()
}

// treeRow is an event or a group in the tree.
type treeRow struct {
	Depth  int
	event  event
	Group  *group
	Hidden bool // some of its branches are only counted
}

// rows walks the tree, with all branches of the events in open and the others
// collapsed. A chain of events may be as long as it likes, so the walk has a stack
// of its own.
func (t *shape) rows(open map[string]bool, now time.Time) []treeRow {
	var rows, stack []treeRow
	push := func(list []treeRow) {
		for _, row := range slices.Backward(list) {
			stack = append(stack, row)
		}
	}
	w := &treeWalk{t, open, now}
	push(w.below(event{}, 0))
	for len(stack) > 0 {
		row := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if row.Group == nil {
			next := w.below(row.event, row.Depth)
			row.Hidden = slices.ContainsFunc(next, func(r treeRow) bool { return r.Group != nil })
			push(next)
		}
		rows = append(rows, row)
	}
	return rows
}

// treeWalk is what a walk through the tree needs to know.
type treeWalk struct {
	*shape
	open map[string]bool // addresses of events with all branches shown
	now  time.Time
}

// below are the rows right below an event: its branches, deeper, and what follows
// it in its own thread. An event that stands for a child stream has the branches
// of that.
func (w *treeWalk) below(e event, depth int) []treeRow {
	followers := w.followers[e.Event]
	split := slices.IndexFunc(followers, func(f event) bool { return sameThread(f.Event, e.Event) == 1 })
	if split < 0 {
		split = len(followers)
	}
	branches, own := followers[:split], followers[split:]
	if e.Event == nil {
		own, branches = branches, nil
	}
	of := e.Event
	if e.Event != nil && e.doc.below[e.Event] != nil {
		of = e.doc.below[e.Event].Stream.Root()
		branches = w.followers[of]
	}
	var rows []treeRow
	if len(branches) > 0 {
		rows = w.branches(e, of, branches, depth+1)
	}
	for _, f := range own {
		rows = append(rows, treeRow{Depth: depth, event: f})
	}
	return rows
}

// branches are the rows of the branches of an event, which the split of made.
func (w *treeWalk) branches(e event, split *eventstream.Event, branches []event, depth int) []treeRow {
	kinOf := w.kinOf(branches[0].doc.Stream, split)
	counts := map[kin]int{}
	for _, b := range branches {
		counts[kinOf(b)]++
	}
	var rows []treeRow
	var rest []*group
	groups := map[kin]*group{}
	shown := map[kin]int{}
	for _, b := range branches {
		k := kinOf(b)
		if w.open[e.ID()] || shown[k] < k.shownOf(counts[k]) {
			shown[k]++
			rows = append(rows, treeRow{Depth: depth, event: b})
			continue
		}
		if groups[k] == nil {
			groups[k] = &group{Step: k.step, State: k.state, Under: e.ID()}
			rest = append(rest, groups[k])
		}
		groups[k].Count += branchesOf(b.Event)
	}
	for _, g := range rest {
		rows = append(rows, treeRow{Depth: depth, Group: g})
	}
	return rows
}

// branchesOf is how many branches an event stands for.
func branchesOf(e *eventstream.Event) int {
	if e.IsBatch() {
		branches, _, _ := e.Branches()
		return branches
	}
	return 1
}

// kinOf judges the branches of a split by what became of them, not by the state of
// their first event.
func (w *treeWalk) kinOf(s *eventstream.Stream, split *eventstream.Event) func(event) kin {
	last := map[*eventstream.Event]eventstream.Result{}
	for r := range s.Results(split) {
		last[r.First] = r
	}
	return func(b event) kin {
		r, ok := last[b.Event]
		if !ok || r.Last == nil {
			return kin{stepOf(b.Event), stateOf(b.Event, w.now)}
		}
		k := kin{stepOf(b.Event), stateOf(r.Last, w.now)}
		if r.Failed && k.state == completed {
			k.state = withErrors
		}
		return k
	}
}
