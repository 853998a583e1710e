package processor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope/store"
)

// Peers returns the URLs of the live workers of other processes that take
// doorbells over HTTP and can do something about this one: that serve its step
// and may touch its run. A doorbell without a step is for all. What it knows of
// the workers may be a second old, ten seconds where the store is far away; only
// then it costs a listing, and a read for each worker that is new.
//
// It is what a bus needs that calls the workers one by one.
func (p *Processor) Peers(ctx context.Context, bell bus.Doorbell) ([]string, error) {
	workers, err := p.directory.look(ctx)
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, w := range workers {
		if w.URL != "" && !p.directory.isOwn(w.URL) && w.hears(bell) {
			urls = append(urls, w.URL)
		}
	}
	return urls, nil
}

// hears reports whether a doorbell is for the worker.
func (w *WorkerInfo) hears(bell bus.Doorbell) bool {
	if w.Only != nil && !slices.Contains(w.Only, bell.Stream) {
		return false
	}
	return bell.Step == "" || slices.ContainsFunc(w.Pipelines, func(served Served) bool {
		return slices.Contains(served.Steps, bell.Step)
	})
}

// directory is what is known of the workers of the container.
type directory struct {
	p *Processor

	mu      sync.Mutex                 // guards the fields below
	own     map[string]int             // :: URL → workers of this process that have it
	read    time.Time                  // when workers was
	workers []WorkerInfo               // those that live
	bodies  map[blobVersion]WorkerInfo // what has been read
}

// blobVersion is one content of a worker's blob.
type blobVersion struct{ name, etag string }

func newDirectory(p *Processor) *directory {
	return &directory{p: p, own: map[string]int{}}
}

func (d *directory) enter(url string) { d.count(url, 1) }
func (d *directory) leave(url string) { d.count(url, -1) }

func (d *directory) count(url string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own[url] += n
}

func (d *directory) isOwn(url string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own[url] > 0
}

// look returns the live workers. Two that look at the same time both ask the
// store, which harms nothing.
func (d *directory) look(ctx context.Context) ([]WorkerInfo, error) {
	d.mu.Lock()
	workers, bodies, fresh := d.workers, d.bodies, time.Since(d.read) < d.p.timing.peers
	d.mu.Unlock()
	if fresh {
		return workers, nil
	}
	now := time.Now()
	workers, bodies, err := d.list(ctx, bodies)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read, d.workers, d.bodies = now, workers, bodies
	return workers, nil
}

// list reads the blobs of live workers, those that it has not in before.
func (d *directory) list(ctx context.Context, before map[blobVersion]WorkerInfo) ([]WorkerInfo, map[blobVersion]WorkerInfo, error) {
	var workers []WorkerInfo
	bodies := map[blobVersion]WorkerInfo{}
	st := d.p.scope.Store()
	for blob, err := range st.List(ctx, workerPrefix) {
		if err != nil {
			return nil, nil, err
		}
		if _, ok := workerOf(blob.Name); !ok || !blob.Lease.State.Locked() || d.p.scope.IsDead(blob.Lease.Holder) {
			continue
		}
		key := blobVersion{blob.Name, blob.ETag}
		info, ok := before[key]
		if !ok {
			object, err := st.Get(ctx, blob.Name, nil)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went away while we looked
			}
			if err != nil {
				return nil, nil, err
			}
			// One that is no worker's takes no doorbells.
			_ = json.Unmarshal(object.Body, &info)
		}
		bodies[key] = info
		workers = append(workers, info)
	}
	return workers, bodies, nil
}
