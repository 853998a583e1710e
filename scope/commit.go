package scope

import (
	"context"
	"errors"

	"github.com/leasestream/leasestream/scope/store"
)

// pending is one commit: what is written, and what it replaces.
type pending struct {
	body    *store.Body // once it is written, as the store knows it
	had     *store.Body // what it replaces
	meta    map[string]string
	own     commitEntry
	etag    string        // of what it replaces
	before  []commitEntry // of what it replaces
	unknown bool          // a Put was not answered, and may still arrive
}

// verdict is what became of an attempt to commit.
type verdict int

const (
	committed verdict = iota
	again             // nothing was written: run the edits on fresh content
	failed            // with an error for everyone in the batch
)

// errAgain: the lease was lost before anything was written.
var errAgain = errors.New("run the edits again")

// process runs the current batch until its outcome is known, and makes that known.
// The numbers below are those of the commit order in the package comment.
func (l *line) process(t *tenure) {
	retry := backoff{waits: l.s.set.poll}
	for !l.attempt(t) {
		l.s.stats.reruns.Add(1)
		_ = sleep(context.Background(), retry.next())
		if err := t.waitUnlocked(); err != nil {
			l.settled(failed, err)
			break
		}
	}
	l.finish() // 5
}

// attempt runs the current batch once, and reports whether its outcome is set.
func (l *line) attempt(t *tenure) (settled bool) {
	if !l.rewind() {
		return true
	}
	doc, err := l.load(t) // 1 and 2, as far as there is need
	if err != nil {
		return l.settled(failed, err)
	}
	l.doc = nil             // it is as committed again only when this attempt has succeeded
	steered := l.apply(doc) // 3
	if l.current.size() == 0 {
		l.succeed(t, doc)
		return true
	}
	if t.lost() {
		return false
	}
	p, err := l.prepare(doc, steered)
	if err != nil {
		return l.settled(failed, &Error{"edit", l.blob, err})
	}
	etag, v, err := l.write(t, p) // 4
	if v != committed {
		return l.settled(v, err)
	}
	l.committed(t, doc, p, etag)
	return true
}

// settled sets the outcome of an attempt that was not committed.
func (l *line) settled(v verdict, err error) bool {
	if v == again || errors.Is(err, errAgain) {
		return false
	}
	l.seal()
	for _, j := range l.current.jobs {
		j.fail(err)
	}
	return true
}

// committed sets the outcome of an attempt that was. An empty etag means that
// others may have written since.
func (l *line) committed(t *tenure, doc *document, p *pending, etag string) {
	l.s.stats.commits.Add(1)
	l.s.stats.edits.Add(int64(l.current.size()))
	l.s.told.committed(l.current.size())
	l.succeed(t, &document{stream: doc.stream, etag: etag, meta: p.meta, stored: &content{body: p.body}})
	t.etag = etag
	if etag == "" || p.unknown {
		l.doc = nil
	}
}

// succeed sets the outcome of the edits of a batch that is durable, or that
// changed nothing.
func (l *line) succeed(t *tenure, doc *document) {
	l.doc = doc
	size := l.current.size()
	for _, j := range l.current.jobs {
		if j.succeeded() {
			j.result.ETag, j.result.Batch, j.result.committed = doc.etag, size, doc.stored
			j.result.Polls = t.polls()
			l.s.stats.waited(j.result.Waited)
		}
	}
}

// prepare makes the commit of a document.
func (l *line) prepare(doc *document, steered int) (*pending, error) {
	before := parseCommits(doc.meta[commitsKey])
	own := l.s.nextCommit(before)
	meta, err := metadata(doc.meta, doc.stream.Summary(), steered, withCommit(before, own))
	if err != nil {
		return nil, err
	}
	doc.stream.Compact()
	body := &store.Body{Pieces: doc.stream.Pieces()}
	return &pending{body: body, had: doc.stored.body, meta: meta, own: own, etag: doc.etag, before: before}, nil
}

// nextCommit numbers a commit. Numbers grow over all streams of the scope, and
// from what an earlier life of the same writer has left.
func (s *Scope) nextCommit(before []commitEntry) commitEntry {
	earlier := numberOf(before, s.set.writer)
	for {
		last := s.number.Load()
		next := max(last, earlier) + 1
		if s.number.CompareAndSwap(last, next) {
			return commitEntry{s.set.writer, next, s.Now().Unix()}
		}
	}
}

// write is the one way in which a stream is written: under the lease ID and the
// ETag of what it replaces.
func (l *line) write(t *tenure, p *pending) (etag string, v verdict, err error) {
	info, err := l.put(t, p)
	switch {
	case err == nil:
		return info.ETag, committed, nil
	case passing(err):
		return l.settle(t, p, err)
	}
	v, err = l.refused(t, p, err)
	return "", v, err
}

func (l *line) put(t *tenure, p *pending) (info *store.Info, err error) {
	return l.s.put(context.Background(), l.blob, p, store.Conditions{LeaseID: t.id(), IfMatch: p.etag})
}

func (s *Scope) put(ctx context.Context, blob string, p *pending, c store.Conditions) (info *store.Info, err error) {
	err = within(ctx, s.set.call, func(ctx context.Context) error {
		o := &store.PutOptions{Conditions: c, Metadata: p.meta, ContentType: "application/xml; charset=utf-8"}
		written, body, err := store.PutPieces(ctx, s.st, blob, p.body.Pieces, p.had, o)
		if err == nil {
			info, p.body = written, body
		}
		return err
	})
	return info, err
}

// refused decides about a Put after which nothing has been written.
func (l *line) refused(t *tenure, p *pending, err error) (verdict, error) {
	switch {
	case errors.Is(err, store.ErrConditionNotMet):
		l.bypassed(t, err)
		return again, nil
	case notOurs(err):
		t.lose(err)
		return again, nil
	case missing(err):
		return again, nil // reading it tells everyone that it is gone
	case errors.Is(err, store.ErrTooLarge) && l.s.learnLimit(int64(p.body.Size())):
		return again, nil
	}
	return failed, &Error{"edit", l.blob, err}
}

// bypassed notes that somebody wrote although we hold the lease. That is no harm
// to the document, but a fault in whoever did.
func (l *line) bypassed(t *tenure, err error) {
	if t.lease == nil || t.lost() {
		return
	}
	l.s.stats.bypassed.Add(1)
	l.s.set.logger.Warn("the blob was written past our lease", "blob", l.blob, "lease", t.id(), "err", err)
}

// learnLimit takes in that the store refused a document of this size; false if
// that was known already.
func (s *Scope) learnLimit(size int64) bool {
	for {
		limit := s.maxBody.Load()
		if size > limit {
			return false
		}
		if s.maxBody.CompareAndSwap(limit, size-1) {
			return true
		}
	}
}
