package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// WorkerInfo is a worker, as its blob and the lease on it tell.
type WorkerInfo struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Slots     int       `json:"slots"`         // handlers at a time, as they were set last
	URL       string    `json:"url,omitempty"` // where it takes doorbells over HTTP; "": nowhere
	Pipelines []Served  `json:"pipelines"`
	// Only are the runs that the worker is restricted to; nil: none.
	Only []string `json:"only,omitempty"`

	// Alive: the worker holds its lease, and is not known to be dead. The sweep
	// gives the events of others back.
	Alive bool            `json:"-"`
	Lease store.LeaseInfo `json:"-"`
	// Set is what [Processor.SetSlots] said last; nil if it was never called.
	Set *SlotSetting `json:"-"`
	// Unreadable says why the blob tells nothing about the worker; nil if it does.
	Unreadable error `json:"-"`
}

// Served is a pipeline that a worker runs, in the version that it was given.
type Served struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Steps      []string `json:"steps"`
}

// Takes reports whether the worker takes events of a run, if it serves their steps.
func (w *WorkerInfo) Takes(run string) bool { return w.Only == nil || slices.Contains(w.Only, run) }

// Serves reports whether the worker runs a step of a definition.
func (w *WorkerInfo) Serves(definition, step string) bool {
	return slices.ContainsFunc(w.Pipelines, func(served Served) bool {
		return served.Definition == definition && slices.Contains(served.Steps, step)
	})
}

// Workers yields the workers of the container by ID, dead ones that nobody has
// cleared away yet among them. It costs a listing and a read for each, and another
// for those whose slots were set.
func (p *Processor) Workers(ctx context.Context) iter.Seq2[WorkerInfo, error] {
	return func(yield func(WorkerInfo, error) bool) {
		blobs, set, err := p.workerBlobs(ctx)
		if err != nil {
			yield(WorkerInfo{}, err)
			return
		}
		for _, blob := range blobs {
			info, err := p.workerInfo(ctx, blob, set)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went away while we looked
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// workerBlobs lists the blobs of the workers, and tells of which there is a
// setting.
func (p *Processor) workerBlobs(ctx context.Context) (blobs []*store.Info, set map[string]bool, err error) {
	set = map[string]bool{}
	for blob, err := range p.scope.Store().List(ctx, workerPrefix) {
		if err != nil {
			return nil, nil, err
		}
		if _, ok := workerOf(blob.Name); ok {
			blobs = append(blobs, blob)
		}
		if of, ok := strings.CutSuffix(blob.Name, settingsSuffix); ok {
			set[of] = true
		}
	}
	return blobs, set, nil
}

// workerInfo reads the blob of a worker, and its setting if there is one.
func (p *Processor) workerInfo(ctx context.Context, blob *store.Info, set map[string]bool) (WorkerInfo, error) {
	id, _ := workerOf(blob.Name)
	info := WorkerInfo{ID: id, Lease: blob.Lease, Alive: p.isAlive(blob)}
	object, err := p.scope.Store().Get(ctx, blob.Name, nil)
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(object.Body, &info); err != nil {
		info.Unreadable = fmt.Errorf("blob %q is no worker's: %w", blob.Name, err)
	}
	info.ID = id
	if !set[blob.Name] {
		return info, nil
	}
	info.Set, err = p.slotSetting(ctx, id)
	switch {
	case errors.Is(err, errSetting):
		info.Unreadable = err
	case err != nil:
		return info, err
	case info.Set != nil:
		info.Slots = info.Set.Slots
	}
	return info, nil
}

// isAlive reports whether a worker holds the lease of its blob, and is not known
// to be dead.
func (p *Processor) isAlive(blob *store.Info) bool {
	return blob.Lease.State.Locked() && !p.scope.IsDead(blob.Lease.Holder)
}
