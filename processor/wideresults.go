package processor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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

// yieldResults yields what became of branches, and of all that batch events among
// them stand for; false to stop.
func (p *Processor) yieldResults(ctx context.Context, run string, branches []branchResult, yield func(Result, error) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	var side sync.WaitGroup
	defer side.Wait()
	defer cancel()
	children := p.readAhead(ctx, &side, run, branches)
	for _, b := range branches {
		goesOn := false
		if b.batch == nil {
			goesOn = p.yieldResult(ctx, b, yield)
		} else {
			goesOn = p.yieldBatch(ctx, run, b, <-children, yield)
		}
		if !goesOn {
			return false
		}
	}
	return true
}

// ended is a child stream that has ended, or why it could not be read.
type ended struct {
	stream *eventstream.Stream
	err    error
}

// readAhead reads the child streams of batch events in their order, each while the
// one before is worked with: so there are two in memory. Its goroutine belongs to
// side, and ends with ctx or when all were received.
func (p *Processor) readAhead(ctx context.Context, side *sync.WaitGroup, run string, branches []branchResult) <-chan ended {
	children := make(chan ended)
	if !slices.ContainsFunc(branches, func(b branchResult) bool { return b.batch != nil }) {
		return children
	}
	side.Go(func() {
		defer close(children)
		for _, b := range branches {
			if b.batch == nil {
				continue
			}
			s, err := p.endedChild(ctx, run, b.batch)
			select {
			case children <- ended{s, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	return children
}

// yieldBatch yields what became of the branches of a child stream.
func (p *Processor) yieldBatch(ctx context.Context, run string, b branchResult, child ended, yield func(Result, error) bool) bool {
	switch {
	case errors.Is(child.err, ErrNoRun):
		return yieldMissing(b, yield)
	case child.err == nil && child.stream == nil:
		child.err = context.Cause(ctx) // it ended before the child was read
		fallthrough
	case child.err != nil:
		yield(b.result, fmt.Errorf("results of batch event %s: %w", b.result.ID, child.err))
		return false
	}
	var branches []branchResult
	for r := range child.stream.Results(child.stream.Root()) {
		branches = append(branches, newBranchResult(b.batch.doc, r))
	}
	return p.yieldResults(ctx, run, branches, yield)
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
