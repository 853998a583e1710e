package scope

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// Create writes a new stream to a blob that does not exist, without a lease.
// store.ErrExists if it is there already. A Put that was not answered is repeated,
// and the blob that is then found is ours if it has our commit number.
//
// The Result tells of all events of the stream as created. The stream is the
// scope's from then on, which keeps it for the edits to come: whoever gave it must
// not use it any more.
func (s *Scope) Create(ctx context.Context, blob string, stream *eventstream.Stream) (*Result, error) {
	ctx, cancel := s.whileOpen(ctx)
	defer cancel()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("create %q: %w", blob, err)
	}
	stream.Compact()
	p := &pending{body: &store.Body{Pieces: stream.Pieces()}, own: s.nextCommit(nil)}
	if size, limit := int64(p.body.Size()), s.maxBody.Load(); size > limit {
		return nil, &Error{"create", blob, fmt.Errorf("%w: %d bytes, %d allowed", store.ErrTooLarge, size, limit)}
	}
	var err error
	p.meta, err = metadata(map[string]string{steerKey: "0"}, stream.Summary(), 0, []commitEntry{p.own})
	if err != nil {
		return nil, &Error{"create", blob, err}
	}
	began := time.Now()
	etag, err := s.create(ctx, blob, p)
	if err != nil {
		return nil, err
	}
	stored := &content{body: p.body}
	res := &Result{
		Created: refs(stream), Ended: stream.IsDone(), Changed: true, ETag: etag,
		Batch: 1, Waited: time.Since(began), committed: stored,
	}
	if !p.unknown {
		s.keepWarm(blob, &document{stream: stream, etag: etag, meta: p.meta, stored: stored})
	}
	return res, nil
}

// keepWarm keeps a document that nobody has edited yet, unless somebody is about to.
func (s *Scope) keepWarm(blob string, doc *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() || s.blobs[blob] != nil {
		return
	}
	l := s.newLine(blob)
	l.doc = doc
	s.park(l)
}

func refs(stream *eventstream.Stream) []EventRef {
	created := make([]EventRef, 0, stream.Len())
	for e := range stream.Events() {
		created = append(created, EventRef{e.ID(), e.Topic()})
	}
	return created
}

// create repeats the Put until its outcome is known.
func (s *Scope) create(ctx context.Context, blob string, p *pending) (etag string, err error) {
	retry := backoff{waits: s.set.retry}
	for began := time.Now(); ; {
		info, err := s.put(ctx, blob, p, store.Conditions{IfNoneMatch: store.AnyETag})
		switch {
		case err == nil:
			return info.ETag, nil
		case errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrLeaseMissing):
			etag, err, done := s.exists(ctx, blob, p, err)
			if done {
				return etag, err
			}
		case !passing(err):
			return "", s.notCreated(blob, p, err)
		}
		p.unknown = p.unknown || !known(err)
		if cause := sleep(ctx, retry.next()); cause != nil || time.Since(began) >= s.set.giveUp {
			return "", s.notCreated(blob, p, endedBy(cause, err))
		}
	}
}

// exists decides whether the blob that is there is the one we have made. A blob
// that is leased exists, whatever the store says first. One that is not to be seen
// yet, or any more, is to be tried again.
func (s *Scope) exists(ctx context.Context, blob string, p *pending, refusal error) (etag string, err error, done bool) {
	if !p.unknown {
		return "", fmt.Errorf("create %q: %w: %w", blob, store.ErrExists, refusal), true
	}
	var info *store.Info
	err = s.insist(ctx, s.set.terms.try, func(ctx context.Context) (err error) {
		info, err = s.st.Stat(ctx, blob, nil)
		return err
	})
	switch {
	case missing(err):
		return "", nil, false
	case err != nil:
		return "", s.notCreated(blob, p, err), true
	}
	switch findCommit(info.Metadata, p) {
	case present:
		return info.ETag, nil, true
	case absent:
		return "", fmt.Errorf("create %q: %w: %w", blob, store.ErrExists, refusal), true
	}
	if info.Metadata[runKey] != "" && info.Metadata[runKey] != p.meta[runKey] {
		return "", fmt.Errorf("create %q: %w: %w", blob, store.ErrExists, refusal), true
	}
	return "", s.notCreated(blob, p, refusal), true
}

func (s *Scope) notCreated(blob string, p *pending, err error) error {
	if p.unknown {
		return &OutcomeError{"create", blob, err}
	}
	return &Error{"create", blob, err}
}
