package processor

import (
	"context"
	"errors"
	"iter"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// purgeChildren removes the child streams of a run that is being purged, until a
// listing shows none: a worker that comes too late may have made another meanwhile.
func (p *Processor) purgeChildren(ctx context.Context, name, run string, purged *Purged) error {
	for left := true; left; {
		left = false
		for info, err := range p.childBlobsOf(ctx, name, run) {
			if err != nil {
				return err
			}
			left = true
			if err := p.remove(ctx, info.Name, ""); err != nil {
				return err
			}
			purged.Children++
			purged.Bytes += info.Size
		}
	}
	return nil
}

// childBlobsOf lists the child streams of a run, among the open ones and in the
// archive.
func (p *Processor) childBlobsOf(ctx context.Context, name, run string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for _, prefix := range childPrefixes(name, run) {
			for info, err := range p.scope.Store().List(ctx, prefix) {
				if !yield(info, err) {
					return
				}
			}
		}
	}
}

// remove removes a document, as of an ETag if there is one, and if need be after
// somebody who edits it.
func (p *Processor) remove(ctx context.Context, blob, etag string) error {
	err := p.scope.Store().Delete(ctx, blob, &store.Conditions{IfMatch: etag})
	if errors.Is(err, store.ErrLeaseMissing) {
		lease, held := p.scope.Hold(ctx, blob, &scope.HoldOptions{Wait: purgeWait})
		if errors.Is(held, store.ErrNotFound) {
			return nil
		}
		if held != nil {
			return held
		}
		defer p.release(ctx, lease)
		err = p.scope.Store().Delete(ctx, blob, &store.Conditions{LeaseID: lease.ID(), IfMatch: etag})
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// collectChildren removes child streams that were made while their run was purged,
// or that one of the same name left behind.
func (p *Processor) collectChildren(ctx context.Context) error {
	var bad troubles
	homes := map[string]bool{} // :: run → whether it is there
	for info, err := range p.documents(ctx, nil) {
		if err != nil {
			bad.add(err)
			return bad.err()
		}
		bad.add(p.collectChild(ctx, info, homes))
	}
	return bad.err()
}

// collectChild removes a document if it is a child that has no home any more.
func (p *Processor) collectChild(ctx context.Context, info *store.Info, homes map[string]bool) (err error) {
	doc, ok := anyDocumentOf(info.Name)
	summary, known := eventstream.ParseSummary(info.Metadata)
	_, _, isChild := parentDocument(doc)
	if !ok || !known || !isChild || info.LastModified.After(p.scope.Now().Add(-garbageAge)) {
		return nil
	}
	there, looked := homes[summary.Run]
	if !looked {
		if there, err = p.isThere(ctx, runNameOf(doc), summary.Run); err != nil {
			return err
		}
		homes[summary.Run] = there
	}
	if !there {
		_, err = p.collect(ctx, info)
	}
	return err
}

// isThere reports whether a run can be found under its name. One that is being
// purged takes its children along by itself.
func (p *Processor) isThere(ctx context.Context, name, run string) (bool, error) {
	places, err := p.places(ctx, name)
	if err != nil {
		return true, err
	}
	for _, info := range places {
		summary, known := eventstream.ParseSummary(info.Metadata)
		if !known || summary.Run == run {
			return true, nil
		}
	}
	info, err := p.inStreams(ctx, name)
	return info != nil && info.Metadata["run"] == run, err
}
