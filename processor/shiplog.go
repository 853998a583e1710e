package processor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// ErrNoLog is matched when a worker keeps no log in the container, or does not any
// more.
var ErrNoLog = errors.New("the worker has no log in the store")

const (
	// shipEvery is the time between two writes of a log that goes on.
	shipEvery = 5 * time.Second
	// shipTimeout bounds one write, and shipLast the one that a worker that ends
	// waits for.
	shipTimeout = 30 * time.Second
	shipLast    = 5 * time.Second
)

// WorkerLog returns the end of a worker's log, if it keeps one in the container
// (WorkOptions.Log); that of a worker that is gone can be read for a day. ErrNoLog
// if there is none.
func (p *Processor) WorkerLog(ctx context.Context, worker string) ([]byte, error) {
	if err := checkWorkerID(worker); err != nil {
		return nil, err
	}
	object, err := p.scope.Store().Get(ctx, logBlob(worker), nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%w: %q", ErrNoLog, worker)
	}
	if err != nil {
		return nil, err
	}
	return object.Body, nil
}

// shipper keeps the end of a worker's log in the container. It is done as well as
// it can be, and holds up nothing. Its methods belong to one goroutine at a time.
type shipper struct {
	w       *worker
	tail    *Tail
	shipped int64 // bytes of the log, up to the last write that succeeded
	failing bool  // the last write did not
}

// run ships the log until ctx ends.
func (s *shipper) run(ctx context.Context) {
	if s.tail == nil {
		return
	}
	ticker := time.NewTicker(shipEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.ship(ctx, shipTimeout)
		}
	}
}

// last ships what was logged to the end.
func (s *shipper) last(ctx context.Context) {
	if s.tail != nil {
		s.ship(context.WithoutCancel(ctx), shipLast)
	}
}

// ship writes the log if it has grown. That it cannot be written is logged once,
// or the log would grow by that alone.
func (s *shipper) ship(ctx context.Context, timeout time.Duration) {
	written := s.tail.Written()
	if written == s.shipped {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := s.w.p.scope.Store().Put(ctx, logBlob(s.w.id), s.tail.Lines(), &store.PutOptions{
		ContentType: "text/plain; charset=utf-8",
	})
	if err == nil {
		s.shipped, s.failing = written, false
		return
	}
	if !s.failing {
		s.failing = true
		s.w.log.WarnContext(ctx, "log was not written to the store", "err", err)
	}
}
