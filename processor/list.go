package processor

import (
	"context"
	"errors"
	"iter"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// RunInfo is one line of a listing of runs.
type RunInfo struct {
	Name string
	eventstream.Summary
	// ETag of its own document is another one after each edit of that.
	ETag string
	// Unreadable says why the document cannot be read; nil if it can.
	Unreadable error
}

// StatusWithError is how listings and purges call a run that completed although
// something in it did not.
const StatusWithError = "withError"

// ListOptions restrict a listing; nil and zero fields restrict nothing.
type ListOptions struct {
	// Status of the run: inprocess, completed, [StatusWithError], aborted, canceled.
	Status   string
	Pipeline string
	// Tags that a run has to have, all of them; a value of "" stands for any.
	Tags map[string]string
	Open bool // only runs that have not ended; the archive is not listed then
}

func (o *ListOptions) take(info RunInfo) bool {
	return o == nil || (!o.Open || !info.Status.Final()) &&
		(o.Status == "" || o.Status == info.filterStatus()) &&
		(o.Pipeline == "" || o.Pipeline == info.Pipeline) &&
		info.hasTags(o.Tags)
}

func (i RunInfo) filterStatus() string {
	if i.Status == eventstream.Completed && i.WithError {
		return StatusWithError
	}
	return i.Status.String()
}

func (i RunInfo) hasTags(want map[string]string) bool {
	for key, value := range want {
		if has, ok := i.Tags[key]; !ok || value != "" && value != has {
			return false
		}
	}
	return true
}

// List yields the runs of the container by name, those in the archive after the
// others, each with its child streams summed up. It costs a listing of each, and one
// or two more for a run with child streams; only streams without our metadata are
// read.
func (p *Processor) List(ctx context.Context, o *ListOptions) iter.Seq2[RunInfo, error] {
	return func(yield func(RunInfo, error) bool) {
		seen := map[string]bool{}
		for blob, err := range p.documents(ctx, o) {
			if err != nil {
				yield(RunInfo{}, err)
				return
			}
			name, ok := runName(blob.Name)
			// Between its two places a run is in both, and the open one counts.
			if !ok || seen[name] || blob.Metadata[metaPurging] != "" {
				continue
			}
			seen[name] = true
			info, err := p.runInfo(ctx, name, blob)
			if errors.Is(err, ErrNoRun) {
				continue // it went away while we looked
			}
			if err == nil && !o.take(info) {
				continue
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// documents lists the blobs of the runs.
func (p *Processor) documents(ctx context.Context, o *ListOptions) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for blob, err := range p.scope.Store().List(ctx, streamPrefix) {
			if !yield(blob, err) {
				return
			}
		}
		if o != nil && o.Open {
			return
		}
		for blob, err := range p.scope.Store().List(ctx, archivePrefix) {
			if !yield(blob, err) {
				return
			}
		}
	}
}

func (p *Processor) runInfo(ctx context.Context, name string, blob *store.Info) (RunInfo, error) {
	if summary, ok := eventstream.ParseSummary(blob.Metadata); ok {
		summary, err := p.withChildren(ctx, name, summary)
		return RunInfo{Name: name, Summary: summary, ETag: blob.ETag}, err
	}
	snapshot, err := p.Read(ctx, name)
	if errors.Is(err, eventstream.ErrMalformed) {
		return RunInfo{Name: name, Summary: eventstream.Summary{Updated: blob.LastModified}, ETag: blob.ETag, Unreadable: err}, nil
	}
	if err != nil {
		return RunInfo{}, err
	}
	info := infoOf(name, blob, snapshot.Stream)
	info.ETag = snapshot.ETag
	info.Summary, err = p.withChildren(ctx, name, info.Summary)
	return info, err
}

// infoOf is what the document itself tells, but for the time of its last edit.
func infoOf(name string, blob *store.Info, s *eventstream.Stream) RunInfo {
	info := RunInfo{Name: name, Summary: s.Summary(), ETag: blob.ETag}
	info.Updated = blob.LastModified
	if cached, ok := eventstream.ParseSummary(blob.Metadata); ok {
		info.Updated = cached.Updated
	}
	return info
}
