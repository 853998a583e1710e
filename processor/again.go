package processor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// again says what is to run again in a document. A retry inside a child stream
// begins in the run's own document: there the batch event goes back to init, with
// what is asked of the child in its Cursor, and whoever claims it carries that out.
type again struct {
	Below string `json:"below,omitempty"` // what failed at and below it
	From  string `json:"from,omitempty"`  // this event, and what comes after it
	Whole bool   `json:"whole,omitempty"` // all branches of the child, from their messages
	By    string `json:"by,omitempty"`
	// A message in place of that of what runs again, or where it lies.
	Input  json.RawMessage `json:"input,omitempty"`
	Ref    string          `json:"ref,omitempty"`
	Bytes  int64           `json:"bytes,omitempty"`
	SHA256 string          `json:"sha256,omitempty"`
}

// parseAgain reads a Cursor; what is none of ours asks for everything that failed.
func parseAgain(cursor []byte) (a again) {
	if json.Unmarshal(cursor, &a) != nil {
		return again{}
	}
	return a
}

func (a *again) setInput(p *eventstream.Payload) {
	if p != nil {
		a.Input, a.Ref, a.Bytes, a.SHA256 = p.JSON, p.Ref, p.Bytes, p.SHA256
	}
}

// input is nil where the messages stay as they are.
func (a *again) input() *eventstream.Payload {
	if a.Input == nil && a.Ref == "" {
		return nil
	}
	return &eventstream.Payload{JSON: a.Input, Ref: a.Ref, Bytes: a.Bytes, SHA256: a.SHA256}
}

// apply reopens what is asked for and returns what runs again. failing are batch
// events that do not show the failures in their children.
func (a again) apply(s *eventstream.Stream, failing map[string]bool) ([]*eventstream.Event, error) {
	if id, rest, isBelow := strings.Cut(cmp.Or(a.From, a.Below), "/"); isBelow {
		return a.passOn(s, id, rest)
	}
	o, err := a.options(s)
	if err != nil {
		return nil, err
	}
	if o.From != nil && isBatch(o.From) {
		return a.reopenBatch(s, o.From, again{Whole: true, By: a.By})
	}
	picks, err := s.Reopen(o)
	if err == nil || errors.Is(err, eventstream.ErrNothingToReopen) {
		var open []*eventstream.Event
		if open, err = a.reopenFailing(s, o, failing, err); err != nil {
			return nil, err
		}
		picks = append(picks, open...)
	}
	for _, e := range picks {
		if err == nil && isBatch(e) {
			err = a.mark(s, e, again{By: a.By})
		}
	}
	return picks, err
}

func (a again) options(s *eventstream.Stream) (*eventstream.ReopenOptions, error) {
	o := &eventstream.ReopenOptions{Input: a.input(), By: a.By}
	var err error
	if a.Below != "" {
		if o.Below, err = eventAt(s, a.Below); err != nil {
			return nil, err
		}
	}
	if a.From != "" {
		o.From, err = eventAt(s, a.From)
	}
	return o, err
}

// reopenFailing reopens batch events that do not show the failures in their
// children. nothing is why there was nothing else to reopen.
func (a again) reopenFailing(s *eventstream.Stream, o *eventstream.ReopenOptions, failing map[string]bool, nothing error) ([]*eventstream.Event, error) {
	var open []*eventstream.Event
	for e := range s.Batches() {
		if failing[e.ID()] && isUncounted(e) && o.From == nil && (o.Below == nil || isBelow(e, o.Below)) {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return nil, nothing
	}
	for _, e := range open {
		if _, err := s.Reopen(&eventstream.ReopenOptions{From: e, By: a.By}); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// isBelow reports whether e is at or below top.
func isBelow(e, top *eventstream.Event) bool {
	for ; e != nil; e = e.Prev() {
		if e == top {
			return true
		}
	}
	return false
}

// passOn reopens a batch event for something in its child.
func (a again) passOn(s *eventstream.Stream, id, rest string) ([]*eventstream.Event, error) {
	e := s.Event(id)
	if e == nil || !isBatch(e) || e.Superseded() {
		return nil, fmt.Errorf("%w: %q", ErrNoEvent, cmp.Or(a.From, a.Below))
	}
	inChild := a
	if a.From != "" {
		inChild.From = rest
	} else {
		inChild.Below = rest
	}
	return a.reopenBatch(s, e, inChild)
}

func (a again) reopenBatch(s *eventstream.Stream, e *eventstream.Event, inChild again) ([]*eventstream.Event, error) {
	if !e.Waiting() && !e.Status().Final() {
		return nil, fmt.Errorf("batch event %s: %w: it is about to be opened; try again", e.ID(), eventstream.ErrStatus)
	}
	picks, err := s.Reopen(&eventstream.ReopenOptions{From: e, By: a.By})
	if err != nil {
		return nil, err
	}
	return picks, a.mark(s, e, inChild)
}

// mark leaves with a batch event what is asked of its child.
func (a again) mark(s *eventstream.Stream, e *eventstream.Event, inChild again) error {
	if a.input() != nil && inChild.input() == nil {
		return fmt.Errorf("batch event %s: %w: it stands for many branches, and a new message is for one; name the event, as in %s/01.00",
			e.ID(), ErrOutcome, e.ID())
	}
	data, err := encode(inChild)
	if err != nil {
		return err
	}
	return s.SetCursor(e, eventstream.JSON(data))
}

// isUncounted reports whether there may be failures below a batch event that it
// does not count: it is open, or they are below aggregators that have completed.
func isUncounted(e *eventstream.Event) bool {
	_, _, failed := e.Branches()
	return isBatch(e) && (e.Waiting() || e.WithError() && failed == 0)
}

// failing are the batch events of a document that count no failures, but have
// something in their children that a retry would run again.
func (p *Processor) failing(ctx context.Context, doc string, s *eventstream.Stream) (map[string]bool, error) {
	failing := map[string]bool{}
	for e := range s.Batches() {
		if !isUncounted(e) {
			continue
		}
		ids, err := p.foresee(ctx, childOf(doc, e.ID()), s.Run(), again{})
		switch {
		case errors.Is(err, ErrNoRun) || errors.Is(err, eventstream.ErrNothingToReopen):
		case err != nil:
			return nil, err
		case len(ids) > 0:
			failing[e.ID()] = true
		}
	}
	return failing, nil
}

// foresee tries out what would run again, in a document and the children below it.
func (p *Processor) foresee(ctx context.Context, doc, run string, a again) (ids []string, err error) {
	snapshot, err := p.read(ctx, doc, run)
	if err != nil {
		return nil, err
	}
	s := snapshot.Stream // of which nobody else has a part
	failing, err := p.failing(ctx, doc, s)
	if err != nil {
		return nil, err
	}
	var picks []*eventstream.Event
	_, err = s.Edit(p.scope.Now(), func() (err error) {
		picks, err = a.apply(s, failing)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range picks {
		below, err := p.foreseeChild(ctx, doc, s.Run(), e)
		if err != nil {
			return nil, err
		}
		ids = append(ids, below...)
	}
	return ids, nil
}

func (p *Processor) foreseeChild(ctx context.Context, doc, run string, e *eventstream.Event) ([]string, error) {
	itself := []string{addressOf(doc, e.ID())}
	if !isBatch(e) {
		return itself, nil
	}
	inChild := parseAgain(e.Cursor())
	if inChild.Whole {
		return itself, nil
	}
	ids, err := p.foresee(ctx, childOf(doc, e.ID()), run, inChild)
	if errors.Is(err, ErrNoEvent) {
		return nil, fmt.Errorf("below %s: %w", itself[0], err)
	}
	isNamed := inChild.Below != "" || inChild.From != ""
	if !isNamed && (errors.Is(err, ErrNoRun) || errors.Is(err, eventstream.ErrNothingToReopen)) {
		return itself, nil // its child was never made, or had nothing to do with it
	}
	if errors.Is(err, ErrNoRun) {
		err = noChild(runNameOf(doc), childOf(doc, e.ID()), err)
	}
	return ids, err
}
