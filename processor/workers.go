package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// WorkerInfo is a worker, as its blob and the lease on it tell.
type WorkerInfo struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Slots     int       `json:"slots"`
	Pipelines []Served  `json:"pipelines"`

	// Alive: the worker holds its lease, and is not known to be dead. The sweep
	// gives the events of others back.
	Alive bool            `json:"-"`
	Lease store.LeaseInfo `json:"-"`
}

// Served is a pipeline that a worker runs, in the version that it was given.
type Served struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Steps      []string `json:"steps"`
}

// Serves reports whether the worker runs a step of a definition.
func (w *WorkerInfo) Serves(definition, step string) bool {
	return slices.ContainsFunc(w.Pipelines, func(served Served) bool {
		return served.Definition == definition && slices.Contains(served.Steps, step)
	})
}

// Workers yields the workers of the container by ID, dead ones that nobody has
// cleared away yet among them. It costs a listing and a read for each.
func (p *Processor) Workers(ctx context.Context) iter.Seq2[WorkerInfo, error] {
	return func(yield func(WorkerInfo, error) bool) {
		for blob, err := range p.scope.Store().List(ctx, workerPrefix) {
			if err != nil {
				yield(WorkerInfo{}, err)
				return
			}
			id, ok := workerOf(blob.Name)
			if !ok {
				continue
			}
			info, err := p.workerInfo(ctx, id, blob)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went away while we looked
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

func (p *Processor) workerInfo(ctx context.Context, id string, blob *store.Info) (WorkerInfo, error) {
	object, err := p.scope.Store().Get(ctx, blob.Name, nil)
	if err != nil {
		return WorkerInfo{}, err
	}
	info := WorkerInfo{Lease: blob.Lease, Alive: blob.Lease.State.Locked() && !p.scope.IsDead(blob.Lease.Holder)}
	if err := json.Unmarshal(object.Body, &info); err != nil {
		return WorkerInfo{}, fmt.Errorf("blob %q is no worker's: %w", blob.Name, err)
	}
	info.ID = id
	return info, nil
}
