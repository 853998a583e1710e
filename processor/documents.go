package processor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
)

// Document is one of the documents that a run consists of: its own, or that of a
// child stream, which has branches of a wide split.
type Document struct {
	*scope.Snapshot

	p    *Processor
	name string
}

// Document returns the run's own document, wherever it lies. ErrNoRun if there is
// none.
func (p *Processor) Document(ctx context.Context, name string) (*Document, error) {
	snapshot, err := p.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Document{snapshot, p, name}, nil
}

// Event returns an event of a run by its address, and the document that it is in.
// ErrNoRun if there is no such run, ErrNoEvent if it has no such event.
func (p *Processor) Event(ctx context.Context, name, at string) (*Document, *eventstream.Event, error) {
	snapshot, doc, local, err := p.readAt(ctx, name, at)
	if err != nil {
		return nil, nil, err
	}
	e := snapshot.Stream.Event(local)
	if e == nil {
		return nil, nil, fmt.Errorf("run %q: %w: %q", name, ErrNoEvent, at)
	}
	return &Document{snapshot, p, doc}, e, nil
}

// Summary sums up the document, and that of a run with its child streams.
func (d *Document) Summary(ctx context.Context) (eventstream.Summary, error) {
	sum := d.Stream.Summary()
	if d.IsChild() {
		return sum, nil
	}
	return d.p.withChildren(ctx, d.name, sum)
}

// Address is how users address an event of the document, by its id. The root of a
// child stream is addressed as the batch event that it stands for.
func (d *Document) Address(id string) string {
	_, path, isChild := strings.Cut(d.name, "/")
	if isChild && id == eventstream.RootID {
		return path
	}
	return addressOf(d.name, id)
}

// IsChild reports whether the document is that of a child stream.
func (d *Document) IsChild() bool { return strings.Contains(d.name, "/") }

// Child reads the child stream of an event; nil if the event is no batch event, or
// its child does not exist (yet).
func (d *Document) Child(ctx context.Context, e *eventstream.Event) (*Document, error) {
	if !isBatch(e) {
		return nil, nil
	}
	doc := childOf(d.name, e.ID())
	snapshot, err := d.p.read(ctx, doc, d.Stream.Run())
	if errors.Is(err, ErrNoRun) || err == nil && snapshot.Stream.Run() != d.Stream.Run() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Document{snapshot, d.p, doc}, nil
}

// Documents yields the documents of a run in the order of its tree: each one, and
// then the child streams of its events, those that a retry has superseded among
// them. Each is read when its turn comes.
func (p *Processor) Documents(ctx context.Context, name string) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		d, err := p.Document(ctx, name)
		if err != nil {
			yield(nil, err)
			return
		}
		d.walk(ctx, yield)
	}
}

// walk reports whether to go on.
func (d *Document) walk(ctx context.Context, yield func(*Document, error) bool) bool {
	if !yield(d, nil) {
		return false
	}
	for e := range d.Stream.Events() {
		child, err := d.Child(ctx, e)
		switch {
		case err != nil:
			yield(nil, err)
			return false
		case child != nil && !child.walk(ctx, yield):
			return false
		}
	}
	return true
}
