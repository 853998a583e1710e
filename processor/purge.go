package processor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// purgeWait is how long a purge waits for the lease of the document: longer than
// a holder that died can keep it.
const purgeWait = 70 * time.Second

// ErrOpen is matched when a run would have to have ended for what is asked.
var ErrOpen = errors.New("the run has not ended")

// Purged is what a purge removed.
type Purged struct {
	Payloads int   // blobs with payloads
	Children int   // documents of child streams
	Bytes    int64 // of the payloads and the documents
}

// Purge removes an ended run with all its payloads, for good. It may be killed
// anywhere: from its first step on the run is gone for everyone, and the same call
// again, a start under the name, or the sweep removes the rest. ErrOpen if the run
// has not ended, ErrNoRun if there is none; if another purge removes it at the same
// time, both succeed, and one counts what was removed.
func (p *Processor) Purge(ctx context.Context, name string) (Purged, error) {
	return p.purgeWhere(ctx, name, anyRun)
}

func (p *Processor) purgeWhere(ctx context.Context, name string, fits func(RunInfo) bool) (Purged, error) {
	if err := CheckName(name); err != nil {
		return Purged{}, err
	}
	for seen := false; ; seen = true {
		info, err := p.look(ctx, name, "")
		switch {
		case err != nil:
			return Purged{}, err
		case info == nil && seen:
			return Purged{}, nil // another purge was faster
		case info == nil:
			return Purged{}, fmt.Errorf("%w: %q", ErrNoRun, name)
		}
		purged, err := p.purge(ctx, name, info.Name, purgeWait, fits)
		if !errors.Is(err, store.ErrNotFound) {
			return purged, err
		}
		// It was moved, or purged, between the two looks.
	}
}

// places are where documents of a run lie: as a rule one, among the open ones or
// in the archive, and both between the two.
func (p *Processor) places(ctx context.Context, name string) ([]*store.Info, error) {
	open, err := p.inStreams(ctx, name)
	if err != nil {
		return nil, err
	}
	archived, err := p.inArchive(ctx, name, "")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc([]*store.Info{open, archived}, func(info *store.Info) bool { return info == nil }), nil
}

func notEnded(name string) error {
	return fmt.Errorf("purge run %q: %w; cancel it first", name, ErrOpen)
}

// notBegun is for an empty document, in which there is nothing to cancel.
func notBegun(name, blob string) error {
	return fmt.Errorf("purge run %q: %w: it has not begun, its document is empty; remove the blob %s", name, ErrOpen, blob)
}

func notReadable(name, blob string, err error) error {
	return fmt.Errorf("purge run %q: %w; mend the document, or remove the blob %s", name, err, blob)
}

func anyRun(RunInfo) bool { return true }

// errUnfit: a run is not one of those that are to be purged, as was seen under its
// lease.
var errUnfit = errors.New("the run is none of those to be purged")

// purge removes the run whose document lies in a blob, if it fits. Until the
// document goes, last of all, it tells that a purge has begun.
func (p *Processor) purge(ctx context.Context, name, blob string, wait time.Duration, fits func(RunInfo) bool) (purged Purged, err error) {
	lease, err := p.scope.Hold(ctx, blob, &scope.HoldOptions{Wait: wait})
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	defer p.release(ctx, lease)
	object, err := p.scope.Store().Get(ctx, blob, &store.Conditions{LeaseID: lease.ID()})
	if err != nil {
		return purged, err
	}
	s, err := eventstream.Parse(object.Body)
	switch {
	case err != nil:
		return purged, notReadable(name, blob, err)
	case s.Len() == 0:
		return purged, notBegun(name, blob)
	case !s.IsDone():
		return purged, notEnded(name)
	}
	if !fits(infoOf(name, &object.Info, s)) {
		return purged, errUnfit
	}
	etag, err := p.markPurging(ctx, lease.ID(), object, s)
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	err = errors.Join(p.purgeChildren(ctx, name, s.Run(), &purged), p.purgePayloads(ctx, s.Run(), &purged))
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	if err := p.purgeCopy(ctx, name, blob, s.Run()); err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	err = p.scope.Store().Delete(ctx, blob, &store.Conditions{LeaseID: lease.ID(), IfMatch: etag})
	if err == nil {
		purged.Bytes += object.Size
	}
	return purged, err
}

// finishPurge goes on with a purge that was killed, so that the name is free.
func (p *Processor) finishPurge(ctx context.Context, name string) error {
	places, err := p.places(ctx, name)
	if err != nil {
		return err
	}
	for _, info := range places {
		if info.Metadata[metaPurging] == "" {
			continue
		}
		if _, err := p.purge(ctx, name, info.Name, purgeWait, anyRun); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// markPurging marks the metadata, for whoever lists, and the document, for whoever
// waits to edit it: the lease of a purge that was killed passes on to him.
func (p *Processor) markPurging(ctx context.Context, leaseID string, object *store.Object, s *eventstream.Stream) (etag string, err error) {
	if object.Metadata[metaPurging] != "" && s.Attr(attrPurging) != "" {
		return object.ETag, nil
	}
	meta := maps.Clone(object.Metadata)
	if meta == nil {
		meta = map[string]string{}
	}
	meta[metaPurging] = "true"
	now := p.scope.Now()
	if _, err := s.Edit(now, func() error { return s.SetAttrs(attrPurging, eventstream.FormatTime(now)) }); err != nil {
		return "", err
	}
	info, err := p.scope.Store().Put(ctx, object.Name, s.Bytes(), &store.PutOptions{
		Conditions: store.Conditions{LeaseID: leaseID, IfMatch: object.ETag}, Metadata: meta, ContentType: object.ContentType,
	})
	if err != nil {
		return "", err
	}
	return info.ETag, nil
}

// purgePayloads removes payloads until a listing shows none: a worker whose outcome
// comes too late may have written more of them meanwhile.
func (p *Processor) purgePayloads(ctx context.Context, run string, purged *Purged) error {
	for left := run != ""; left; {
		left = false
		for info, err := range p.payloadsOf(ctx, run) {
			if err != nil {
				return err
			}
			left = true
			err := p.scope.Store().Delete(ctx, info.Name, nil)
			switch {
			case err == nil:
				purged.Payloads++
				purged.Bytes += info.Size
			case !errors.Is(err, store.ErrNotFound):
				return err
			}
		}
	}
	return nil
}

func (p *Processor) payloadsOf(ctx context.Context, run string) iter.Seq2[*store.Info, error] {
	return p.scope.Store().List(ctx, payloadPrefix+run+"/")
}

// purgeCopy removes the copy in the archive that an archiving or a retry has left
// when it was killed: without the other one it would be taken for the run.
func (p *Processor) purgeCopy(ctx context.Context, name, blob, run string) error {
	copied := archiveBlob(name, run)
	if blob == copied {
		return nil
	}
	err := p.scope.Store().Delete(ctx, copied, nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

const (
	// garbageAge is how old something has to be before it is taken for left over:
	// a payload is written before the document that refers to it.
	garbageAge = 24 * time.Hour
	// garbageEvery is the time between two collections.
	garbageEvery = time.Hour
)

// collectGarbage removes what purges have left that were killed, child streams whose
// run is gone, payloads that no document refers to, and what dead workers left. What
// cannot be removed keeps nothing else from it.
func (p *Processor) collectGarbage(ctx context.Context) error {
	return errors.Join(p.collectPurges(ctx), p.collectWorkers(ctx), p.collectChildren(ctx), p.collectPayloads(ctx))
}

// collectPurges goes on with purges that nobody goes on with.
func (p *Processor) collectPurges(ctx context.Context) error {
	var bad troubles
	for blob, err := range p.documents(ctx, nil) {
		if err != nil {
			bad.add(err)
			return bad.err()
		}
		name, ok := runName(blob.Name)
		if !ok || blob.Metadata[metaPurging] == "" {
			continue
		}
		_, err := p.purge(ctx, name, blob.Name, 0, anyRun)
		bad.add(ignoreGone(err))
	}
	return bad.err()
}

func isChanged(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConditionNotMet) || errors.Is(err, store.ErrLeaseMissing)
}

// collectPayloads lists the payloads first and reads the documents after them:
// what a document refers to was written before it.
func (p *Processor) collectPayloads(ctx context.Context) error {
	before := p.scope.Now().Add(-garbageAge)
	old := map[string][]*store.Info{} // :: run → payloads
	for info, err := range p.scope.Store().List(ctx, payloadPrefix) {
		if err != nil {
			return err
		}
		if run, ok := runOf(info.Name); ok && info.LastModified.Before(before) {
			old[run] = append(old[run], info)
		}
	}
	if len(old) == 0 {
		return nil
	}
	referred, err := p.referred(ctx, old)
	if err != nil {
		return err
	}
	var bad troubles
	for _, payloads := range old {
		for _, info := range payloads {
			if !referred[info.Name] {
				_, err := p.collect(ctx, info)
				bad.add(err)
			}
		}
	}
	return bad.err()
}

// referred collects what the documents of the runs refer to. A document that
// cannot be read keeps all payloads: who knows what it refers to.
func (p *Processor) referred(ctx context.Context, runs map[string][]*store.Info) (map[string]bool, error) {
	refs := map[string]bool{}
	for _, prefix := range []string{streamPrefix, archivePrefix, streamPrefix} {
		for info, err := range p.scope.Store().List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			if summary, ok := eventstream.ParseSummary(info.Metadata); ok && len(runs[summary.Run]) == 0 {
				continue
			}
			snapshot, err := p.scope.Read(ctx, info.Name)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			addRefs(refs, snapshot.Stream)
		}
	}
	return refs, nil
}

func addRefs(refs map[string]bool, s *eventstream.Stream) {
	for e := range s.Batches() {
		if a := parseAgain(e.Cursor()); a.Ref != "" {
			refs[a.Ref] = true
		}
	}
	for e := range s.Events() {
		for _, get := range []func() (eventstream.Payload, bool){e.Input, e.Output} {
			if payload, ok := get(); ok && payload.Ref != "" {
				refs[payload.Ref] = true
			}
		}
		for _, attempt := range e.Attempts() {
			if log, ok := attempt.Log(); ok {
				refs[log.Ref] = true
			}
		}
	}
}
