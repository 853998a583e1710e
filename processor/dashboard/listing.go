package dashboard

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// listing is the runs of the container. Looks that come in quick succession share
// one.
type listing struct {
	p  *processor.Processor
	mu sync.Mutex // guards the fields below
	at time.Time
	// read is the last listing; another one begins when it is too old.
	read *reading
}

type reading struct {
	done    chan struct{} // closed when the fields below are there
	runs    []processor.RunInfo
	version string
	err     error
}

// get returns the runs by name, as they were at most a moment ago, and the version
// of the listing. The slice is shared.
func (l *listing) get(ctx context.Context) ([]processor.RunInfo, string, error) {
	r, mine := l.current()
	if mine {
		// Others may wait for it who are there longer than this request.
		r.run(context.WithoutCancel(ctx), l.p)
	}
	select {
	case <-r.done:
		return r.runs, r.version, r.err
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
}

func (l *listing) current() (r *reading, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read != nil && time.Since(l.at) < l.fresh() {
		return l.read, false
	}
	l.read, l.at = &reading{done: make(chan struct{})}, time.Now()
	return l.read, true
}

// forget makes the next look a new one: something was changed from here.
func (l *listing) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = nil
}

func (l *listing) fresh() time.Duration {
	if store.IsLocal(l.p.Scope().Store()) {
		return 50 * time.Millisecond
	}
	return time.Second
}

func (r *reading) run(ctx context.Context, p *processor.Processor) {
	defer close(r.done)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	sum := fnv.New64a()
	for info, err := range p.List(ctx, nil) {
		if err != nil {
			r.err = err
			return
		}
		fmt.Fprintf(sum, "%s %s\n", info.Name, info.ETag)
		r.runs = append(r.runs, info)
	}
	r.version = fmt.Sprintf("%x", sum.Sum64())
}
