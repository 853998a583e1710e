package processor

import (
	"context"
	"iter"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// withChildren adds to blobs of runs those of their child streams, if the metadata
// do not say that there are none.
func (w *worker) withChildren(ctx context.Context, roots iter.Seq2[*store.Info, error]) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for root, err := range roots {
			if !yield(root, err) {
				return
			}
			if err != nil || !hasChildren(root) {
				continue
			}
			name, _ := nameOf(root.Name)
			for blob, err := range w.p.scope.Store().List(ctx, childPrefixes(name, "")[0]) {
				if !yield(blob, err) {
					return
				}
			}
		}
	}
}

// hasChildren reports whether a run may have child streams.
func hasChildren(root *store.Info) bool {
	summary, known := eventstream.ParseSummary(root.Metadata)
	return !known || summary.Batches > 0
}

// withChildren adds what the child streams of a run count to what its own document
// does. The events that hold the tree together, batch events and the roots of
// children, are left out.
func (p *Processor) withChildren(ctx context.Context, name string, sum eventstream.Summary) (eventstream.Summary, error) {
	if sum.Batches == 0 {
		return sum, nil
	}
	total := sum
	total.Total -= sum.Batches
	total.Done -= sum.BatchesDone
	for child, err := range p.children(ctx, name, sum.Run) {
		if err != nil {
			return sum, err
		}
		addChild(&total, child)
	}
	return total, nil
}

func addChild(total *eventstream.Summary, c child) {
	total.Total += c.Total - 1 - c.Batches
	total.Done += c.Done - c.BatchesDone
	if c.Status.Final() {
		total.Done--
	} else if c.ofRootThread() {
		// Of a child that has ended, the batch event has the counts.
		total.OK += c.OK
		total.Failed += c.Failed
	}
	total.Ready, total.Running = addCounts(total.Ready, c.Ready), addCounts(total.Running, c.Running)
	total.Due = earliest(total.Due, c.Due)
	if c.Updated.After(total.Updated) {
		total.Updated = c.Updated
	}
}

// addCounts is nil, unknown, if one of both is.
func addCounts(a, b map[string]int) map[string]int {
	if a == nil || b == nil {
		return nil
	}
	for step, n := range b {
		a[step] += n
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// child is a child stream of a run, as its metadata tell.
type child struct {
	doc string
	eventstream.Summary
}

// ofRootThread reports whether the batch event is a branch of a split of the run's
// root thread.
func (c child) ofRootThread() bool {
	parent, id, _ := parentDocument(c.doc)
	thread, _ := eventstream.SplitID(id)
	above, _ := eventstream.SplitID(thread)
	return parent == runNameOf(c.doc) && above == ""
}

// children yields the child streams of a run whose metadata are ours, among the
// open ones and, unless those are all, in the archive.
func (p *Processor) children(ctx context.Context, name, run string) iter.Seq2[child, error] {
	return func(yield func(child, error) bool) {
		seen := map[string]bool{}
		for _, prefix := range childPrefixes(name, run) {
			for blob, err := range p.scope.Store().List(ctx, prefix) {
				if err != nil {
					yield(child{}, err)
					return
				}
				doc, ok := anyDocumentOf(blob.Name)
				summary, known := eventstream.ParseSummary(blob.Metadata)
				if !ok || !known || summary.Run != run || seen[doc] {
					continue
				}
				seen[doc] = true
				if !yield(child{doc, summary}, nil) {
					return
				}
			}
		}
	}
}
