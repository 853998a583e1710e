package processor

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// metaPurging marks a run that is being purged: for everyone it is gone.
const metaPurging = "purging"

// attrPurging is the same on the root element, where an edit sees it.
const attrPurging = "purging"

// find returns where the document of a run lies. ErrNoRun if it is nowhere.
func (p *Processor) find(ctx context.Context, name string) (*store.Info, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return p.locate(ctx, name, "")
}

// locate is find for any document; that of a child stream has its run in the name
// of the archived blob.
func (p *Processor) locate(ctx context.Context, doc, run string) (*store.Info, error) {
	info, err := p.look(ctx, doc, run)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, fmt.Errorf("%w: %q", ErrNoRun, doc)
	case info.Metadata[metaPurging] != "":
		return nil, beingPurged(doc)
	}
	return info, nil
}

func beingPurged(name string) error { return fmt.Errorf("%w: %q %w", ErrNoRun, name, errPurging) }

// errPurging: what is left of a run is being removed, or was when a purge was killed.
var errPurging = errors.New("is being purged")

// look finds a document among the open ones or in the archive, that of a run which
// is being purged too; nil if it is nowhere. It looks among the open ones once more,
// since a retry may have moved it back meanwhile.
func (p *Processor) look(ctx context.Context, doc, run string) (*store.Info, error) {
	if info, err := p.inStreams(ctx, doc); info != nil || err != nil {
		return info, err
	}
	if info, err := p.inArchive(ctx, doc, run); info != nil || err != nil {
		return info, err
	}
	return p.inStreams(ctx, doc)
}

func (p *Processor) inStreams(ctx context.Context, doc string) (*store.Info, error) {
	return p.stat(ctx, BlobOf(doc))
}

// stat is nil if there is no such blob.
func (p *Processor) stat(ctx context.Context, blob string) (*store.Info, error) {
	info, err := p.scope.Store().Stat(ctx, blob, nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info.Name = blob
	return info, nil
}

func (p *Processor) inArchive(ctx context.Context, doc, run string) (*store.Info, error) {
	if _, _, isChild := parentDocument(doc); isChild {
		return p.stat(ctx, archiveBlob(doc, run))
	}
	for info, err := range p.scope.Store().List(ctx, archivePrefix+doc+archiveMark) {
		if err != nil {
			return nil, err
		}
		if _, ok := archivedName(info.Name); ok {
			return info, nil
		}
	}
	return nil, nil
}

// Read returns the stream of a run as it is now, wherever it lies. Of a wide
// split it has the batch events; [Processor.Documents] has their branches too.
// ErrNoRun if there is none.
func (p *Processor) Read(ctx context.Context, name string) (*scope.Snapshot, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return p.read(ctx, name, "")
}

// read is Read for any document.
func (p *Processor) read(ctx context.Context, doc, run string) (*scope.Snapshot, error) {
	for {
		info, err := p.locate(ctx, doc, run)
		if err != nil {
			return nil, err
		}
		snapshot, err := p.scope.Read(ctx, info.Name)
		if !errors.Is(err, store.ErrNotFound) {
			return snapshot, err
		}
		// It was moved between the two looks.
	}
}
