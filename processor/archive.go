package processor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// archiveAfter is how long a run that has ended stays among the open ones, which
// every poll lists.
const archiveAfter = time.Hour

// archivable reports whether the metadata of a stream say that it ended long
// ago.
func archivable(s eventstream.Summary, now time.Time) bool {
	return s.Status.Final() && !s.Updated.IsZero() && s.Updated.Add(archiveAfter).Before(now)
}

// archive moves the documents of an ended run out of the way, those of its child
// streams first: whoever finds the run finds all of it.
func (p *Processor) archive(ctx context.Context, name, run string) error {
	if done, err := p.archiveChildren(ctx, name, run); err != nil || !done {
		return err
	}
	return p.archiveDocument(ctx, name, archivable)
}

// archiveDocument moves one document: a copy first, then the removal, both under
// the lease. Killed in between it leaves both, and the next try goes on; what is
// among the open ones is the truth until then.
func (p *Processor) archiveDocument(ctx context.Context, doc string, may func(eventstream.Summary, time.Time) bool) error {
	blob := BlobOf(doc)
	lease, err := p.scope.Hold(ctx, blob, nil)
	if err != nil {
		return ignoreGone(err)
	}
	defer p.release(ctx, lease)
	object, err := p.scope.Store().Get(ctx, blob, &store.Conditions{LeaseID: lease.ID()})
	if err != nil {
		return err
	}
	summary, ok := eventstream.ParseSummary(object.Metadata)
	if !ok || !may(summary, p.scope.Now()) || object.Metadata[metaPurging] != "" {
		return nil
	}
	if err := p.putCopy(ctx, archiveBlob(doc, summary.Run), object); err != nil {
		return err
	}
	return p.scope.Store().Delete(ctx, blob, &store.Conditions{LeaseID: lease.ID(), IfMatch: object.ETag})
}

// putCopy writes the archived copy. One that is there already is of a try that
// was killed, and is replaced: the run may have been reopened since.
func (p *Processor) putCopy(ctx context.Context, blob string, object *store.Object) error {
	st := p.scope.Store()
	put := func() error {
		_, err := st.Put(ctx, blob, object.Body, &store.PutOptions{
			Conditions:  store.Conditions{IfNoneMatch: store.AnyETag},
			Metadata:    object.Metadata,
			ContentType: object.ContentType,
		})
		return err
	}
	err := put()
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	old, err := st.Stat(ctx, blob, nil)
	if err != nil {
		return err
	}
	if err := st.Delete(ctx, blob, &store.Conditions{IfMatch: old.ETag}); err != nil {
		return err
	}
	return put()
}

func (p *Processor) release(ctx context.Context, lease *scope.Lease) {
	if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
		p.log.WarnContext(ctx, "lease was not released; it runs out by itself", "blob", lease.Blob(), "err", err)
	}
}

// ignoreGone is for what somebody else may do, or have done, at the same time.
func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrLeaseHeld) {
		return nil
	}
	return err
}

// reopenArchived brings a document back from the archive, changed by f, which has to
// leave it open. The archived copy goes when the open one stands. Its lease keeps a
// purge from removing the payloads meanwhile.
func (p *Processor) reopenArchived(ctx context.Context, doc string, info *store.Info, f func(*eventstream.Stream) error) error {
	lease, err := p.scope.Hold(ctx, info.Name, &scope.HoldOptions{Wait: purgeWait})
	if err != nil {
		return err
	}
	defer p.release(ctx, lease)
	object, err := p.scope.Store().Get(ctx, info.Name, &store.Conditions{LeaseID: lease.ID()})
	if err != nil {
		return err
	}
	if object.Metadata[metaPurging] != "" {
		return beingPurged(runNameOf(doc))
	}
	s, err := eventstream.Parse(object.Body)
	if err != nil {
		return fmt.Errorf("document %q: %w", doc, err)
	}
	if _, err := s.Edit(p.scope.Now(), func() error { return f(s) }); err != nil {
		return err
	}
	if err := lease.Err(); err != nil {
		return err // somebody else may have brought it back, and it may have gone on
	}
	res, err := p.scope.Create(ctx, BlobOf(doc), s)
	if err != nil {
		return err
	}
	p.tell(ctx, doc, res)
	err = p.scope.Store().Delete(ctx, info.Name, &store.Conditions{LeaseID: lease.ID(), IfMatch: object.ETag})
	if err != nil {
		p.log.WarnContext(ctx, "archived copy was not removed; the next archiving replaces it", "stream", doc, "err", err)
	}
	return nil
}
