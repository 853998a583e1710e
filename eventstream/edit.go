package eventstream

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoEdit: the stream was changed outside of Edit.
	ErrNoEdit = errors.New("event-stream is changed only inside Edit")
	// ErrTooLarge: the edit would make the document larger than can be read.
	ErrTooLarge = errors.New("event-stream is too large")
)

// Changes is what one edit did.
type Changes struct {
	Created []*Event // new events, in the order of the document
	Changed int      // events that were created or changed, and the root element; 0: the document is as it was
	Ended   bool     // the root became final
	Steered bool     // canceled, aborted, paused, resumed, reopened or changed limits: workers must look
}

func (c *Changes) merge(d Changes) {
	c.Created = append(c.Created, d.Created...)
	c.Changed += d.Changed
	c.Ended = c.Ended || d.Ended
	c.Steered = c.Steered || d.Steered
}

// edit is the journal of an edit that runs.
type edit struct {
	events  []savedEvent
	threads []savedThread
	begin   savepoint
	done    bool   // the run had ended when the edit began
	epoch   uint32 // the first of this edit
	steered bool
}

type savedEvent struct {
	e   *Event
	was Event
}

type savedThread struct {
	t     *thread
	was   thread
	isNew bool
}

// savepoint is a state that the journal can be undone to.
type savepoint struct {
	saved, savedThreads int // entries of the journal before it
	events              int // of the document
	root                *Event

	before, rootTag, after string
	attrs                  []rootAttr
	blank, pausedRun       bool
	size                   int
}

// Edit runs f, in which the stream may be changed; now is the time that is
// written. If f returns an error or panics, everything it changed is undone, at
// the cost of what it changed. Edits do not nest. ErrTooLarge if the document
// would be over [MaxBytes].
//
// Before f runs, what a foreign hand left undone in the document is brought to
// its end: propagation that is missing, live events below final ones, pauses
// without a time. That stays even if f fails, and is part of the Changes of the
// next edit that succeeds.
func (s *Stream) Edit(now time.Time, f func() error) (Changes, error) {
	if s.tx != nil {
		return Changes{}, errors.New("event-stream edits do not nest")
	}
	s.now = now
	if s.unsettled {
		s.begin()
		s.settle()
		s.settled.merge(s.commit())
	}
	s.begin()
	done := false
	defer func() {
		if !done {
			s.undo(s.tx.begin)
			s.closeJournal()
		}
	}()
	if err := f(); err != nil {
		return Changes{}, err
	}
	if s.size > MaxBytes {
		return Changes{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, s.size, MaxBytes)
	}
	done = true
	changes := s.settled
	changes.merge(s.commit())
	changes.Ended = changes.Ended && s.IsDone() // not if it was settled and reopened
	s.settled = Changes{}
	return changes, nil
}

func (s *Stream) begin() {
	s.epoch++
	s.journal.begin, s.journal.done, s.journal.epoch, s.journal.steered = s.savepoint(), s.IsDone(), s.epoch, false
	s.tx = &s.journal
}

// closeJournal empties the journal for the next edit. What an edit of many events took is
// not kept.
func (s *Stream) closeJournal() {
	tx := s.tx
	s.tx = nil
	if cap(tx.events) > keptJournal || cap(tx.threads) > keptJournal {
		tx.events, tx.threads = nil, nil
		return
	}
	clear(tx.events)
	clear(tx.threads)
	tx.events, tx.threads = tx.events[:0], tx.threads[:0]
}

const keptJournal = 64

func (s *Stream) savepoint() savepoint {
	sp := savepoint{
		events: len(s.events), root: s.root, size: s.size, blank: s.blank, pausedRun: s.pausedRun,
		before: s.before, rootTag: s.rootTag, attrs: s.attrs, after: s.after,
	}
	if s.tx != nil {
		sp.saved, sp.savedThreads = len(s.tx.events), len(s.tx.threads)
	}
	return sp
}

func (s *Stream) commit() Changes {
	tx := s.tx
	created := s.events[tx.begin.events:]
	changes := Changes{
		Created: append([]*Event(nil), created...),
		Changed: len(created),
		Ended:   s.IsDone() && !tx.done,
		Steered: tx.steered,
	}
	for _, u := range tx.events {
		isFirst := u.was.epoch < tx.epoch // not saved before in this edit, nor created in it
		if isFirst && u.was.raw != u.e.raw {
			changes.Changed++
		}
	}
	if s.rootTag != tx.begin.rootTag {
		changes.Changed++
	}
	s.closeJournal()
	return changes
}

// atomic runs a part of an edit that changes several things, all of them or, if
// it returns an error, none.
func (s *Stream) atomic(f func() error) error {
	sp := s.savepoint()
	s.epoch++ // what is changed from here on is saved again
	err := f()
	if err != nil {
		s.undo(sp)
	}
	return err
}

// undo puts everything back as it was at a savepoint.
func (s *Stream) undo(sp savepoint) {
	tx := s.tx
	for i := len(tx.events) - 1; i >= sp.saved; i-- {
		u := &tx.events[i]
		s.unindex(u.e)
		s.blocks.open(u.e) // the edit may have compacted what it changed
		*u.e = u.was
		s.index(u.e)
	}
	for _, e := range s.events[sp.events:] {
		s.unindex(e)
		s.blocks.open(e)
		s.byID.remove(e)
	}
	for i := len(tx.threads) - 1; i >= sp.savedThreads; i-- {
		u := &tx.threads[i]
		*u.t = u.was
		if u.isNew {
			delete(s.oddThreads, u.t.name)
		}
	}
	clear(tx.events[sp.saved:])
	tx.events, tx.threads = tx.events[:sp.saved], tx.threads[:sp.savedThreads]
	clear(s.events[sp.events:])
	s.events = s.events[:sp.events]
	s.before, s.rootTag, s.attrs, s.after = sp.before, sp.rootTag, sp.attrs, sp.after
	s.root, s.blank, s.pausedRun, s.size = sp.root, sp.blank, sp.pausedRun, sp.size
}

// touch saves an event before it changes, once in an edit or savepoint.
func (s *Stream) touch(e *Event) {
	if s.tx == nil || e.epoch == s.epoch {
		return
	}
	s.tx.events = append(s.tx.events, savedEvent{e, *e})
	e.epoch = s.epoch
}

func (s *Stream) touchThread(t *thread) {
	if s.tx != nil && t.epoch != s.epoch {
		s.saveThread(t, false)
	}
}

func (s *Stream) saveThread(t *thread, isNew bool) {
	if s.tx == nil {
		return
	}
	s.tx.threads = append(s.tx.threads, savedThread{t, *t, isNew})
	t.epoch = s.epoch
}
