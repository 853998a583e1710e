package scope

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// document is a stream in memory together with what was last read or written of
// it. Between the two are the edits of the current batch.
type document struct {
	stream *eventstream.Stream
	etag   string
	meta   map[string]string
	stored *content
}

// pending is one commit: what is written, and what it replaces.
type pending struct {
	body    []byte
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
//
// Commit order; each number is a point at which a process may die, or a request
// may fail or go unanswered:
//
//  1. The lease is acquired, with a fresh ID. Nothing has happened yet; a lease
//     that is left behind runs out.
//  2. The document is read, if it is not in memory as of that ETag.
//  3. The edits run, in memory, in the order in which they came.
//  4. One Put writes the document, its summary and the commit number, under the
//     lease ID and the ETag of step 2. From here on the edits are durable; before,
//     none of them is.
//  5. The callers are told. Who died between 4 and 5 finds the edit in the stream.
//  6. The lease is released. One that is left behind runs out.
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
	l.finish()
}

// attempt runs the current batch once, and reports whether its outcome is set.
func (l *line) attempt(t *tenure) (settled bool) {
	b := l.current
	if !b.rewind() {
		return true
	}
	doc, err := l.load(t)
	if err != nil {
		return l.settled(failed, err)
	}
	l.doc = nil // it is as committed again only when this attempt has succeeded
	steered := l.apply(doc)
	if b.size() == 0 {
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
	etag, v, err := l.write(t, p)
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
		}
	}
}

// load returns the document as it is in the store now: from memory if the ETag
// says that nobody has written since.
func (l *line) load(t *tenure) (*document, error) {
	if err := t.ensure(); err != nil {
		return nil, err
	}
	c := &store.Conditions{LeaseID: t.id()}
	switch {
	case l.doc == nil:
	case t.lease != nil && l.doc.etag == t.etag:
		return l.doc, nil
	case t.lease == nil:
		c.IfNoneMatch = l.doc.etag
	}
	var object *store.Object
	err := l.s.insist(context.Background(), l.s.set.call, func(ctx context.Context) (err error) {
		object, err = l.s.st.Get(ctx, l.blob, c)
		return err
	})
	switch {
	case err == nil:
		return l.take(t, object)
	case errors.Is(err, store.ErrConditionNotMet) && l.doc != nil:
		return l.doc, nil
	case notOurs(err):
		t.lose(err)
		return nil, errAgain
	}
	return nil, &Error{"edit", l.blob, err}
}

func (l *line) take(t *tenure, object *store.Object) (*document, error) {
	l.s.stats.reads.Add(1)
	stream, err := eventstream.Parse(object.Body)
	if err != nil {
		return nil, fmt.Errorf("edit %q: nothing is written over it: %w", l.blob, err)
	}
	t.etag = object.ETag
	l.doc = &document{stream: stream, etag: object.ETag, meta: object.Metadata, stored: &content{body: object.Body}}
	return l.doc, nil
}

// apply runs the edits of the current batch, and counts those after which workers
// must look.
func (l *line) apply(doc *document) (steered int) {
	for _, j := range l.current.jobs {
		if l.run(doc, j).Steered {
			steered++
		}
	}
	return steered
}

// run runs one edit, unless its caller has left.
func (l *line) run(doc *document, j *job) (changes eventstream.Changes) {
	if !j.state.CompareAndSwap(waiting, running) {
		return changes
	}
	ended := false
	defer func() {
		if !ended {
			l.interrupted(j, recover())
		}
		j.state.Store(applied)
	}()
	waited := time.Since(j.asked)
	if j.ctx.Err() != nil {
		j.err = fmt.Errorf("edit %q: not applied: %w", l.blob, context.Cause(j.ctx))
	} else {
		changes, j.err = doc.stream.Edit(l.s.Now(), func() error { return l.call(doc.stream, j) })
		j.result = resultOf(changes, waited)
	}
	ended = true
	return changes
}

// call runs the function of an edit, and refuses it if it makes the document too
// large. An edit that makes a large one smaller is welcome.
func (l *line) call(stream *eventstream.Stream, j *job) error {
	before := stream.Size()
	if err := j.f(stream); err != nil {
		return err
	}
	if size, limit := stream.Size(), l.s.maxBody.Load(); int64(size) > limit && size > before {
		return &Error{"edit", l.blob, fmt.Errorf("%w: %d bytes, %d allowed", store.ErrTooLarge, size, limit)}
	}
	return nil
}

// interrupted notes that the function of an edit panicked, or ended its
// goroutine; its caller will do the same. The stream has undone the edit.
func (l *line) interrupted(j *job, value any) {
	if value == nil {
		j.ended = exited
		return
	}
	j.ended, j.panic = panicked, value
	l.s.set.logger.Error("an edit panicked", "blob", l.blob, "err", value, "stack", string(debug.Stack()))
}

func resultOf(changes eventstream.Changes, waited time.Duration) Result {
	r := Result{Ended: changes.Ended, Changed: changes.Changed > 0, Waited: waited}
	if len(changes.Created) > 0 {
		r.Created = make([]EventRef, len(changes.Created))
	}
	for i, e := range changes.Created {
		r.Created[i] = EventRef{e.ID(), e.Topic()}
	}
	return r
}

// prepare makes the commit of a document.
func (l *line) prepare(doc *document, steered int) (*pending, error) {
	before := parseCommits(doc.meta[commitsKey])
	own := l.s.nextCommit(before)
	meta, err := metadata(doc.meta, doc.stream.Summary(), steered, withCommit(before, own))
	if err != nil {
		return nil, err
	}
	return &pending{body: doc.stream.Bytes(), meta: meta, own: own, etag: doc.etag, before: before}, nil
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
	err = within(context.Background(), l.s.set.call, func(ctx context.Context) (err error) {
		info, err = l.s.st.Put(ctx, l.blob, p.body, &store.PutOptions{
			Conditions:  store.Conditions{LeaseID: t.id(), IfMatch: p.etag},
			Metadata:    p.meta,
			ContentType: contentType,
		})
		return err
	})
	return info, err
}

const contentType = "application/xml; charset=utf-8"

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
	case errors.Is(err, store.ErrTooLarge) && l.s.learnLimit(int64(len(p.body))):
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

// rewind makes the jobs of a batch ready to run; false if nobody waits for them.
func (b *batch) rewind() bool {
	any := false
	for _, j := range b.jobs {
		any = any || j.state.Load() != left
		if j.ended == returned {
			j.err, j.result = nil, Result{}
			j.state.CompareAndSwap(applied, waiting)
		}
	}
	return any
}

// size is how many edits of the batch changed the document.
func (b *batch) size() int {
	n := 0
	for _, j := range b.jobs {
		if j.succeeded() && j.result.Changed {
			n++
		}
	}
	return n
}
