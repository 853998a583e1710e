package eventstream

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

var (
	// ErrBranch: a branch number that cannot be had.
	ErrBranch = errors.New("branch number is in use")
	// ErrRoot: the stream has a root event already.
	ErrRoot = errors.New("root event")
)

// NewEvent describes an event to be created.
type NewEvent struct {
	// Name is the step; Topic is what it waits for, if that has another name.
	Name, Topic string
	// Input is the message, as JSON. Nil: none.
	Input *Payload
	// Branch is the number of the thread that a split makes for this event; 0
	// takes the next unused one.
	Branch int
	// Due is when the event may be claimed; zero: at once.
	Due time.Time
	// TrackingID correlates the event; "" takes that of the predecessor.
	TrackingID string
	// Attrs are further attributes, name and value by turns.
	Attrs []string
}

// SplitOptions say how the branches of a split come together again; nil means
// that each ends by itself and nothing follows.
type SplitOptions struct {
	// Join is the step of the aggregator, created once when all branches have
	// ended; "" for none.
	Join string
	// Policy says what failed branches do.
	Policy Policy
	// Due is when the branches that are still open are to be canceled, by
	// [Stream.CloseSplit]; zero: never.
	Due time.Time
	// Attrs are further attributes of the splitter, name and value by turns.
	Attrs []string
}

// AppendRoot creates the first event of a stream that has none. ErrRoot if it has
// one.
func (s *Stream) AppendRoot(n NewEvent) (*Event, error) {
	switch {
	case s.tx == nil:
		return nil, ErrNoEdit
	case len(s.events) > 0:
		return nil, fmt.Errorf("%w: the stream has one already", ErrRoot)
	}
	root, err := newEvent(RootID, s.birthBelow(nil), n)
	if err != nil {
		return nil, err
	}
	s.insert(root)
	s.root = root
	return root, nil
}

// Next hands on from e to the next step of the same thread. e waits for it, in
// status inprocess. ErrFinal if e has ended, ErrStatus if it has handed on
// already.
func (s *Stream) Next(e *Event, n NewEvent) (*Event, error) {
	if err := s.canHandOn(e); err != nil {
		return nil, err
	}
	next, err := newEvent(s.nextStep(e.thread), s.birthBelow(e), n)
	if err != nil {
		return nil, err
	}
	s.handOn(e, []*Event{next})
	return next, nil
}

// Split ends e in branches: each new event is the first of a thread of its own
// below that of e. e waits for them, in status inprocess. With no branches at
// all the aggregator is created at once, or e completes if there is none. A
// policy that so few branches can never meet aborts e at once.
//
// ErrBranch if a chosen branch number belongs to a live thread; ErrFinal if e has
// ended, ErrStatus if it has handed on already. Nothing is changed if there is an
// error.
func (s *Stream) Split(e *Event, branches []NewEvent, o *SplitOptions) ([]*Event, error) {
	if err := s.canHandOn(e); err != nil {
		return nil, err
	}
	if o == nil {
		o = &SplitOptions{}
	}
	changes, err := splitChanges(e, o)
	if err != nil {
		return nil, err
	}
	created, err := s.newBranches(e, branches)
	if err != nil {
		return nil, fmt.Errorf("split event %s: %w", e.id, err)
	}
	s.reserveThreads(len(created))
	s.handOn(e, created, changes...)
	if len(created) > 0 {
		s.propagate(e)
	} else if s.advance(e) {
		s.propagate(e.prev)
	}
	return created, nil
}

func splitChanges(e *Event, o *SplitOptions) ([]change, error) {
	pairs := make([]string, 0, 6+len(o.Attrs))
	if o.Join != "" {
		pairs = append(pairs, "join", o.Join)
	}
	if o.Policy != (Policy{}) {
		pairs = append(pairs, "policy", o.Policy.String())
	}
	if !o.Due.IsZero() {
		pairs = append(pairs, "due", FormatTime(o.Due))
	}
	return checkPairs(nil, e, append(pairs, o.Attrs...))
}

// canHandOn refuses events that have ended or handed on already.
func (s *Stream) canHandOn(e *Event) error {
	switch err := s.editable(e); {
	case err != nil:
		return err
	case e.status.Final():
		return fmt.Errorf("hand on from event %s: %w: it is %s", e.id, ErrFinal, e.status)
	case len(e.next) > 0:
		return fmt.Errorf("hand on from event %s: %w: it waits for its successors already", e.id, ErrStatus)
	}
	return nil
}

// handOn puts new successors of e into the document and makes e wait for them.
// What due stood for until now, a claim or the branches of a split, is over.
func (s *Stream) handOn(e *Event, created []*Event, changes ...change) {
	for _, n := range created {
		s.insert(n)
	}
	all := []change{set("status", Inprocess.String()), unset("due")}
	if len(created) > 0 {
		all = append(all, set("next", nextWith(e, created)))
	}
	s.relink(e, slices.Concat(e.next, created), append(all, changes...))
	for _, n := range created {
		s.touch(n)
		n.setFlag(flagLinked, true)
		s.report(n)
	}
}

// relink gives e the successors next, and makes the changes.
func (s *Stream) relink(e *Event, next []*Event, changes []change) {
	s.setNext(e, next)
	s.apply(e, changes)
}

func (s *Stream) setNext(e *Event, next []*Event) {
	s.touch(e)
	s.unindex(e)
	e.next = next
	e.updateWake()
	s.index(e)
}

// nextWith is the attribute next of e with ids appended.
func nextWith(e *Event, created []*Event) string {
	var b strings.Builder
	b.WriteString(e.Attr("next"))
	for _, n := range created {
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		b.WriteString(n.id)
	}
	return b.String()
}

func (s *Stream) nextStep(t *thread) string { return JoinID(t.name, int(t.maxStep)+1) }

// newBranches makes the events of a split, and changes nothing.
func (s *Stream) newBranches(e *Event, branches []NewEvent) ([]*Event, error) {
	created := make([]*Event, 0, len(branches))
	slab := make([]Event, len(branches))
	unused := int(e.thread.maxChild) + 1
	var taken map[int]bool // by this split; where no number is chosen, each is a new one
	if slices.ContainsFunc(branches, func(n NewEvent) bool { return n.Branch != 0 }) {
		taken = make(map[int]bool, len(branches))
	}
	from := s.birthBelow(e)
	for i, n := range branches {
		branch, err := s.branchNumber(e.thread, n.Branch, unused)
		if err != nil {
			return nil, err
		}
		if taken[branch] {
			return nil, fmt.Errorf("%w: another branch of this split has %d", ErrBranch, branch)
		}
		if taken != nil {
			taken[branch] = true
		}
		unused = max(unused, branch+1)
		b := &slab[i]
		if err := b.create(firstID(e.thread, branch), from, n); err != nil {
			return nil, err
		}
		created = append(created, b)
	}
	return created, nil
}

// branchNumber gives the number of a new thread below t: the one that was
// chosen, or the next unused one if there is none or its thread is superseded.
func (s *Stream) branchNumber(t *thread, chosen, unused int) (int, error) {
	if chosen == 0 {
		return unused, nil
	}
	if chosen < 0 || chosen > math.MaxInt32 {
		return 0, fmt.Errorf("%w: there is no branch %d", ErrBranch, chosen)
	}
	switch used := s.findThread(JoinID(t.name, chosen)); {
	case used == nil || used.maxStep < 0:
		return chosen, nil
	case used.live > 0:
		return 0, fmt.Errorf("%w: thread %s is live", ErrBranch, used.name)
	}
	return unused, nil
}
