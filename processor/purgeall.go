package processor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// PurgeOptions choose what PurgeAll removes; nil means every run that has ended.
type PurgeOptions struct {
	// Names are the only runs that are looked at, each once; nil: all. One that is not
	// there, or has not ended, is reported.
	Names []string
	// Status that the run ended in: completed, [StatusWithError], aborted, canceled;
	// "": any.
	Status   string
	Pipeline string
	// Tags that the run has to have, all of them; a value of "" stands for any.
	Tags map[string]string
	// OlderThan is how long ago the run has to have ended, in the store's time; 0:
	// when does not matter.
	OlderThan time.Duration
	// DryRun only counts.
	DryRun bool
}

// PurgedRun is a run that PurgeAll has come to.
type PurgedRun struct {
	RunInfo
	// Purged is what was removed of it or, in a dry run, would be; of a run that is
	// left over from a purge that was killed, the rest.
	Purged
	// Err is why it was not removed, or not all of it; nil if it was.
	Err error
}

// PurgeAll is [Processor.Purge] for all ended runs that the options choose. Each is
// yielded when it is done with; one that cannot be removed is yielded with the
// error, and the others go on. Runs that have not ended are passed over. It may be
// killed anywhere: the same call again goes on.
//
// It ends with an error of its own if the runs cannot be listed, or with that of
// ctx.
func (p *Processor) PurgeAll(ctx context.Context, o *PurgeOptions) iter.Seq2[PurgedRun, error] {
	if o == nil {
		o = &PurgeOptions{}
	}
	return func(yield func(PurgedRun, error) bool) {
		// All are listed first: a listing may miss something while others are removed.
		found, err := p.purgeable(ctx, o)
		if err != nil {
			yield(PurgedRun{}, err)
			return
		}
		for _, f := range found {
			if ctx.Err() != nil {
				yield(PurgedRun{}, context.Cause(ctx))
				return
			}
			if f.err == nil {
				f.purged, f.err = p.purgeFound(ctx, f, o)
			}
			if !o.passesOver(f.err) && !yield(PurgedRun{f.info, f.purged, f.err}, nil) {
				return
			}
		}
	}
}

// foundRun is a run to be purged.
type foundRun struct {
	info   RunInfo
	blob   *store.Info // its document
	purged Purged
	err    error // why it is not to be purged after all
}

func (p *Processor) purgeable(ctx context.Context, o *PurgeOptions) ([]foundRun, error) {
	if o.Names != nil {
		return p.purgeableNamed(ctx, o)
	}
	var found []foundRun
	seen := map[string]bool{}
	for blob, err := range p.documents(ctx, nil) {
		if err != nil {
			return nil, err
		}
		name, ok := runName(blob.Name)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		info, err := p.runInfo(ctx, name, blob)
		switch {
		case errors.Is(err, ErrNoRun):
		case err != nil:
			return nil, err
		case o.take(info, p.scope.Now()):
			found = append(found, foundRun{info: info, blob: blob})
		}
	}
	return found, nil
}

// purgeableNamed reports of each name why it is none to be purged, unless the
// options leave it out.
func (p *Processor) purgeableNamed(ctx context.Context, o *PurgeOptions) ([]foundRun, error) {
	var found []foundRun
	named := map[string]bool{}
	for _, name := range o.Names {
		if named[name] {
			continue
		}
		named[name] = true
		f := foundRun{info: RunInfo{Name: name}}
		if f.err = CheckName(name); f.err == nil {
			f.blob, f.err = p.look(ctx, name, "")
		}
		if f.err == nil && f.blob != nil {
			f.info, f.err = p.runInfo(ctx, name, f.blob)
		}
		switch {
		case f.err != nil:
		case f.blob == nil:
			f.err = fmt.Errorf("%w: %q", ErrNoRun, name)
		case f.info.Unreadable != nil:
			f.err = notReadable(name, f.blob.Name, f.info.Unreadable)
		case f.info.Total == 0:
			f.err = notBegun(name, f.blob.Name)
		case !f.info.Status.Final():
			f.err = notEnded(name)
		case !o.take(f.info, p.scope.Now()):
			continue
		}
		found = append(found, f)
	}
	return found, nil
}

// purgeFound removes a run if it still is one to be removed. For who named it, one
// that is gone is done.
func (p *Processor) purgeFound(ctx context.Context, f foundRun, o *PurgeOptions) (Purged, error) {
	if o.DryRun {
		return p.count(ctx, f)
	}
	purged, err := p.purgeWhere(ctx, f.info.Name, func(info RunInfo) bool { return o.take(info, p.scope.Now()) })
	if o.Names != nil && errors.Is(err, ErrNoRun) {
		return purged, nil
	}
	return purged, err
}

// count is what a purge would remove.
func (p *Processor) count(ctx context.Context, f foundRun) (Purged, error) {
	purged := Purged{Bytes: f.blob.Size}
	if f.info.Run == "" {
		return purged, nil
	}
	for info, err := range p.childBlobsOf(ctx, f.info.Name, f.info.Run) {
		if err != nil {
			return purged, err
		}
		purged.Children++
		purged.Bytes += info.Size
	}
	for info, err := range p.payloadsOf(ctx, f.info.Run) {
		if err != nil {
			return purged, err
		}
		purged.Payloads++
		purged.Bytes += info.Size
	}
	return purged, nil
}

func (o *PurgeOptions) take(info RunInfo, now time.Time) bool {
	filter := ListOptions{Status: o.Status, Pipeline: o.Pipeline, Tags: o.Tags}
	return info.Status.Final() && filter.take(info) &&
		(o.OlderThan <= 0 || !info.Updated.IsZero() && !info.Updated.After(now.Add(-o.OlderThan)))
}

// passesOver reports whether an error only says that, since the listing, the run has
// become none to be purged. Who named the run wants to know.
func (o *PurgeOptions) passesOver(err error) bool {
	return errors.Is(err, errUnfit) || o.Names == nil && (errors.Is(err, ErrOpen) || errors.Is(err, ErrNoRun))
}
