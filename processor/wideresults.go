package processor

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/eventstream"
)

// batchResult is the branches that a batch event stands for, as an aggregator's
// claim saw it.
type batchResult struct {
	doc      string // of the child
	branches int
	wish     wish // for the case that the child goes on
}

func newBatchResult(doc string, e *eventstream.Event) *batchResult {
	branches, _, _ := e.Branches()
	return &batchResult{doc: childOf(doc, e.ID()), branches: branches, wish: wish{
		id: e.ID(), attempt: e.Attempt(), cancel: true, by: e.Attr("by"), msg: e.Msg(),
	}}
}

// yieldBatch yields what became of the branches of a child stream, which is the
// only one that is in memory.
func (p *Processor) yieldBatch(ctx context.Context, run string, b branchResult, yield func(Result, error) bool) bool {
	s, err := p.endedChild(ctx, run, b.batch)
	switch {
	case errors.Is(err, ErrNoRun):
		return yieldMissing(b, yield)
	case err != nil:
		yield(b.result, fmt.Errorf("results of batch event %s: %w", b.result.ID, err))
		return false
	}
	for r := range s.Results(s.Root()) {
		if !p.yieldResult(ctx, run, newBranchResult(b.batch.doc, r), yield) {
			return false
		}
	}
	return true
}

// endedChild reads a child that has ended. One whose batch event ended before it,
// by a timeout for one, is canceled first, lest an aggregator that is tried twice
// see different results.
func (p *Processor) endedChild(ctx context.Context, run string, b *batchResult) (*eventstream.Stream, error) {
	for {
		snapshot, err := p.read(ctx, b.doc, run)
		if err != nil {
			return nil, err
		}
		s := snapshot.Stream
		switch {
		case s.Run() != run:
			return nil, fmt.Errorf("%w: %q", ErrNoRun, b.doc)
		case s.IsDone():
			return s, nil
		case rootNumber(s, attrAttempt) > b.wish.attempt:
			return nil, fmt.Errorf("child stream %q: %w: a retry has reopened it", b.doc, eventstream.ErrNotOwner)
		}
		if err := p.align(ctx, b.doc, b.wish); err != nil {
			return nil, err
		}
	}
}

// yieldMissing tells of branches whose batch event ended before they were made.
func yieldMissing(b branchResult, yield func(Result, error) bool) bool {
	for i := range b.batch.branches {
		r := b.result
		r.ID += "/" + eventstream.JoinID(eventstream.JoinID("", i+1), 0)
		if r.Error == "" {
			r.Error = r.Status
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}
