package processor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope/store"
)

// documents are what a sweep's listing has told: of each document whose metadata
// are ours, its summary.
type documents map[string]eventstream.Summary

// add takes a document in. Nothing is done about a run that is being purged.
func (d documents) add(doc string, s eventstream.Summary, purging bool) {
	if !purging {
		d[doc] = s
	}
}

// sweepChildren compares documents with their child streams, after the listing:
// what the one wants of the other and was left undone by whoever died.
func (p *Processor) sweepChildren(ctx context.Context, seen *sightings, docs documents) {
	for parent, children := range docs.families() {
		err := p.sweepFamily(ctx, seen, parent, children, docs)
		if err != nil && ctx.Err() == nil && !errors.Is(err, eventstream.ErrNotOwner) {
			p.log.WarnContext(ctx, "sweep", "stream", parent, "err", err)
		}
	}
}

// families are the documents that may have to be compared with child streams: those
// that are open and have batch events, and those of which children were listed.
func (d documents) families() map[string][]string {
	families := map[string][]string{}
	for doc, s := range d {
		if s.Batches > 0 && !s.Status.Final() {
			if _, ok := families[doc]; !ok {
				families[doc] = nil // an entry, also if no child is listed
			}
		}
		if parent, _, isChild := parentDocument(doc); isChild {
			families[parent] = append(families[parent], doc)
		}
	}
	// Of a run whose document still lies here ended children rest in peace.
	maps.DeleteFunc(families, func(parent string, children []string) bool {
		s, listed := d[parent]
		return listed && s.Status.Final() && !slices.ContainsFunc(children, d.isOpen)
	})
	return families
}

func (d documents) isOpen(doc string) bool {
	s, ok := d[doc]
	return ok && !s.Status.Final()
}

func (p *Processor) sweepFamily(ctx context.Context, seen *sightings, parent string, children []string, docs documents) error {
	run := docs[parent].Run
	if run == "" && len(children) > 0 {
		run = docs[children[0]].Run
	}
	blob, s, err := p.readParent(ctx, seen, parent, run)
	if errors.Is(err, ErrNoRun) || err == nil && s.Run() != run {
		return p.endOrphans(ctx, children, docs)
	}
	if err != nil {
		return err
	}
	f := &family{p: p, doc: parent, run: run, s: s, docs: docs}
	if blob != BlobOf(parent) {
		return f.archiveLate(ctx, children)
	}
	return errors.Join(f.grantWishes(ctx, children), f.lookForEnds(ctx), f.judge(ctx))
}

// readParent reads a document with child streams, unless the sweep has read it as it
// is: as long as only the children change, one reading serves all sweeps. It looks
// after the listing, so that the document is not older than the children in there.
func (p *Processor) readParent(ctx context.Context, seen *sightings, doc, run string) (blob string, s *eventstream.Stream, err error) {
	info, err := p.locate(ctx, doc, run)
	if err != nil {
		return "", nil, err
	}
	if s := seen.unchanged(doc, info.ETag); s != nil {
		return info.Name, s, nil
	}
	snapshot, err := p.scope.Read(ctx, info.Name)
	switch {
	case errors.Is(err, store.ErrNotFound): // it was moved between the two looks
		return p.readParent(ctx, seen, doc, run)
	case err != nil:
		return "", nil, err
	}
	seen.keep(doc, snapshot)
	return info.Name, snapshot.Stream, nil
}

// endOrphans cancels children whose parent is gone: it was purged while somebody
// made them. The garbage collector removes them.
func (p *Processor) endOrphans(ctx context.Context, children []string, docs documents) error {
	var errs []error
	for _, doc := range children {
		if docs.isOpen(doc) {
			errs = append(errs, p.align(ctx, doc, wish{attempt: anyAttempt, cancel: true, msg: "its run is gone"}))
		}
	}
	return errors.Join(errs...)
}

// anyAttempt is an attempt that is not older than any other.
const anyAttempt = int(^uint(0) >> 1)

// family is a document with its child streams, as read by the sweep.
type family struct {
	p    *Processor
	doc  string
	run  string
	s    *eventstream.Stream
	docs documents
}

// archiveLate moves children that were left behind when their run went to the
// archive. What is open among them has to end first.
func (f *family) archiveLate(ctx context.Context, children []string) error {
	if err := f.grantWishes(ctx, children); err != nil {
		return err
	}
	for _, doc := range children {
		if f.docs.isOpen(doc) || f.docs[doc].Run != f.run {
			continue
		}
		if err := f.p.archiveDocument(ctx, doc, hasEnded); err != nil {
			return err
		}
	}
	return nil
}

// grantWishes cancels, pauses and resumes children as the batch events want it.
func (f *family) grantWishes(ctx context.Context, children []string) error {
	var errs []error
	for _, doc := range children {
		_, id, _ := parentDocument(doc)
		e := f.s.Event(id)
		switch {
		case f.docs[doc].Run != f.run: // an earlier run of the name
			errs = append(errs, f.p.endOrphans(ctx, []string{doc}, f.docs))
		case e == nil: // a foreign hand put it here
		default:
			if w := wishOf(f.s, e); !w.isGranted(f.docs[doc]) {
				errs = append(errs, f.p.align(ctx, doc, w))
			}
		}
	}
	return errors.Join(errs...)
}

// lookForEnds reports children that have ended, and lets those that are missing be
// made again.
func (f *family) lookForEnds(ctx context.Context) error {
	var errs []error
	for e := range f.s.Batches() {
		if !isBatch(e) || !e.Waiting() {
			continue
		}
		if doc := childOf(f.doc, e.ID()); !f.docs.isOpen(doc) {
			errs = append(errs, f.lookForEnd(ctx, doc, e))
		}
	}
	return errors.Join(errs...)
}

// lookForEnd reads a child after its parent: what the parent waits for was there
// before.
func (f *family) lookForEnd(ctx context.Context, doc string, e *eventstream.Event) error {
	snapshot, err := f.p.read(ctx, doc, f.run)
	switch {
	case errors.Is(err, ErrNoRun):
		return f.lookAgain(ctx, e)
	case err != nil:
		return err
	case snapshot.Stream.Run() != f.run:
		return f.lookAgain(ctx, e)
	case !snapshot.Stream.IsDone():
		return nil
	}
	r := reportOf(snapshot.Stream)
	if r.attempt != e.Attempt() {
		return f.lookAgain(ctx, e)
	}
	return f.p.report(ctx, doc, r)
}

// lookAgain puts a batch event back to init: whoever claims it makes the child, or
// takes it over.
func (f *family) lookAgain(ctx context.Context, e *eventstream.Event) error {
	id, attempt := e.ID(), e.Attempt()
	_, err := f.p.edit(ctx, f.doc, func(s *eventstream.Stream) error {
		now := s.Event(id)
		if !awaits(now, attempt) || !now.Waiting() {
			return eventstream.ErrNotOwner
		}
		return s.GiveBack(now, time.Time{})
	})
	if err == nil {
		f.p.wake(ctx, f.doc, []bus.Doorbell{bellOf(f.doc, e)})
	}
	return err
}

// judge ends splits that are decided by branches of children which go on: by the
// policies first and tolerate.
func (f *family) judge(ctx context.Context) error {
	for split := range f.decided(func(doc string) eventstream.Summary { return f.docs[doc] }) {
		if err := f.decide(ctx, split); err != nil {
			return err
		}
	}
	return nil
}

// decided are the splits that the counts of their open children decide.
func (f *family) decided(count func(doc string) eventstream.Summary) map[*eventstream.Event]bool {
	type tally struct{ branches, ok, failed int }
	sums := map[*eventstream.Event]tally{}
	for e := range f.s.Batches() {
		if !isBatch(e) || !e.Waiting() {
			continue
		}
		split := e.Prev()
		t, known := sums[split]
		if !known {
			t.branches, t.ok, t.failed = split.Tally()
		}
		_, ok, failed := e.Branches()
		counted := count(childOf(f.doc, e.ID()))
		t.ok += max(0, counted.OK-ok)
		t.failed += max(0, counted.Failed-failed)
		sums[split] = t
	}
	decided := map[*eventstream.Event]bool{}
	for split, t := range sums {
		if split.Policy().Decides(t.branches, t.ok, t.failed) {
			decided[split] = true
		}
	}
	return decided
}

// decide writes down the counts of the open children of a split. The listing may be
// older than the document, and of a child that was reopened meanwhile: so they are
// looked at once more.
func (f *family) decide(ctx context.Context, split *eventstream.Event) error {
	counts := map[string]eventstream.Summary{}
	for c, err := range f.p.children(ctx, runNameOf(f.doc), f.run) {
		if err != nil {
			return err
		}
		counts[c.doc] = c.Summary
	}
	if !f.decided(func(doc string) eventstream.Summary { return counts[doc] })[split] {
		return nil
	}
	_, err := f.p.edit(ctx, f.doc, func(s *eventstream.Stream) error {
		for _, was := range slices.Collect(split.Next()) {
			e := s.Event(was.ID())
			counted := counts[childOf(f.doc, was.ID())]
			if !was.Waiting() || !awaits(e, was.Attempt()) {
				continue
			}
			if err := (&report{ok: counted.OK, failed: counted.Failed}).count(s, e); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// hasEnded lets a document go to the archive.
func hasEnded(s eventstream.Summary, _ time.Time) bool { return s.Status.Final() }

// archiveChildren moves the child streams of a run that has ended to the archive.
// done tells that none is left; one that is open is canceled by the sweep first.
func (p *Processor) archiveChildren(ctx context.Context, name, run string) (done bool, err error) {
	for blob, err := range p.scope.Store().List(ctx, childPrefixes(name, run)[0]) {
		if err != nil {
			return false, err
		}
		doc, ok := documentOf(blob.Name)
		summary, known := eventstream.ParseSummary(blob.Metadata)
		switch {
		case !ok || known && summary.Run != run:
			continue
		case !known || !summary.Status.Final():
			return false, nil
		}
		if err := p.archiveDocument(ctx, doc, hasEnded); err != nil {
			return false, err
		}
	}
	return true, nil
}
