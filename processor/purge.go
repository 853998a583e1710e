package processor

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	Bytes    int64 // of the payloads and the document
}

// Purge removes an ended run with all its payloads, for good. It may be killed
// anywhere: from its first step on the run is gone for everyone, and the same call
// again, or a start under the name, removes the rest. ErrOpen if the run has not
// ended.
func (p *Processor) Purge(ctx context.Context, name string) (Purged, error) {
	if err := CheckName(name); err != nil {
		return Purged{}, err
	}
	for _, look := range []func(context.Context, string) (*store.Info, error){p.inStreams, p.inArchive} {
		info, err := look(ctx, name)
		if err != nil {
			return Purged{}, err
		}
		if info != nil {
			return p.purge(ctx, name, info.Name)
		}
	}
	return Purged{}, fmt.Errorf("%w: %q", ErrNoRun, name)
}

func (p *Processor) purge(ctx context.Context, name, blob string) (purged Purged, err error) {
	lease, err := p.scope.Hold(ctx, blob, &scope.HoldOptions{Wait: purgeWait})
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	defer p.release(ctx, lease)
	object, err := p.scope.Store().Get(ctx, blob, &store.Conditions{LeaseID: lease.ID()})
	if err != nil {
		return purged, err
	}
	s, err := eventstream.Parse(object.Body)
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	if !s.IsDone() {
		return purged, fmt.Errorf("purge run %q: %w; cancel it first", name, ErrOpen)
	}
	etag, err := p.markPurging(ctx, lease.ID(), object)
	if err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	purged.Bytes = object.Size
	if err := p.purgePayloads(ctx, s.Run(), &purged); err != nil {
		return purged, fmt.Errorf("purge run %q: %w", name, err)
	}
	return purged, p.scope.Store().Delete(ctx, blob, &store.Conditions{LeaseID: lease.ID(), IfMatch: etag})
}

// finishPurge goes on with a purge that was killed, so that the name is free.
func (p *Processor) finishPurge(ctx context.Context, name string) error {
	for _, look := range []func(context.Context, string) (*store.Info, error){p.inStreams, p.inArchive} {
		info, err := look(ctx, name)
		if err != nil {
			return err
		}
		if info == nil || info.Metadata[metaPurging] == "" {
			continue
		}
		if _, err := p.purge(ctx, name, info.Name); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (p *Processor) markPurging(ctx context.Context, leaseID string, object *store.Object) (etag string, err error) {
	if object.Metadata[metaPurging] != "" {
		return object.ETag, nil
	}
	meta := maps.Clone(object.Metadata)
	if meta == nil {
		meta = map[string]string{}
	}
	meta[metaPurging] = "true"
	info, err := p.scope.Store().Put(ctx, object.Name, object.Body, &store.PutOptions{
		Conditions: store.Conditions{LeaseID: leaseID, IfMatch: object.ETag}, Metadata: meta, ContentType: object.ContentType,
	})
	if err != nil {
		return "", err
	}
	return info.ETag, nil
}

func (p *Processor) purgePayloads(ctx context.Context, run string, purged *Purged) error {
	if run == "" {
		return nil
	}
	for info, err := range p.scope.Store().List(ctx, payloadPrefix+run+"/") {
		if err != nil {
			return err
		}
		err := p.scope.Store().Delete(ctx, info.Name, nil)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		purged.Payloads++
		purged.Bytes += info.Size
	}
	return nil
}

const (
	// garbageAge is how old something has to be before it is taken for left over:
	// a payload is written before the document that refers to it.
	garbageAge = 24 * time.Hour
	// garbageEvery is the time between two collections.
	garbageEvery = time.Hour
)

// collectGarbage removes payloads that no document refers to, and what dead
// workers left.
func (p *Processor) collectGarbage(ctx context.Context) error {
	return errors.Join(p.collectWorkers(ctx), p.collectPayloads(ctx))
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
	for _, payloads := range old {
		for _, info := range payloads {
			if referred[info.Name] {
				continue
			}
			err := p.scope.Store().Delete(ctx, info.Name, &store.Conditions{IfMatch: info.ETag})
			if err != nil && !isChanged(err) {
				return err
			}
		}
	}
	return nil
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
