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
	info, err := p.look(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, fmt.Errorf("%w: %q", ErrNoRun, name)
	case info.Metadata[metaPurging] != "":
		return nil, beingPurged(name)
	}
	return info, nil
}

func beingPurged(name string) error { return fmt.Errorf("%w: %q is being purged", ErrNoRun, name) }

// look finds a document among the open ones or in the archive, that of a run which
// is being purged too; nil if it is nowhere. It looks among the open ones once more,
// since a retry may have moved it back meanwhile.
func (p *Processor) look(ctx context.Context, name string) (*store.Info, error) {
	for _, in := range []func(context.Context, string) (*store.Info, error){p.inStreams, p.inArchive, p.inStreams} {
		if info, err := in(ctx, name); info != nil || err != nil {
			return info, err
		}
	}
	return nil, nil
}

func (p *Processor) inStreams(ctx context.Context, name string) (*store.Info, error) {
	info, err := p.scope.Store().Stat(ctx, BlobOf(name), nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info.Name = BlobOf(name)
	return info, nil
}

func (p *Processor) inArchive(ctx context.Context, name string) (*store.Info, error) {
	for info, err := range p.scope.Store().List(ctx, archivePrefix+name+archiveMark) {
		return info, err
	}
	return nil, nil
}

// Read returns the stream of a run as it is now, wherever it lies. ErrNoRun if
// there is none.
func (p *Processor) Read(ctx context.Context, name string) (*scope.Snapshot, error) {
	for {
		info, err := p.find(ctx, name)
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
