package dashboard

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// document is one of those that a run consists of: its own, or that of a child
// stream, which has branches of a wide split.
type document struct {
	*processor.Document
	above  *document          // nil for the run's own
	stands *eventstream.Event // the event above that stands for it
	below  map[*eventstream.Event]*document
}

// event is an event in its document.
type event struct {
	doc *document
	*eventstream.Event
}

// ID is the event's address in the run.
func (e event) ID() string { return e.doc.Address(e.Event.ID()) }

// up is the event that one follows, the one that stands for its document at last.
// It is no event if there is none.
func (e event) up() event {
	prev := e.Prev()
	switch {
	case prev != nil && (prev.Prev() != nil || e.doc.above == nil):
		return event{e.doc, prev}
	case e.doc.above != nil:
		return event{e.doc.above, e.doc.stands}
	}
	return event{}
}

// frame reports whether the event only holds the documents of a run together.
func (e event) frame() bool {
	return e.IsBatch() || e.doc.above != nil && e.Event == e.doc.Stream.Root()
}

// path is the address of the event that stands for the document; "" for the run's
// own.
func (d *document) path() string {
	if d.above == nil {
		return ""
	}
	return d.Address(eventstream.RootID)
}

// splitAddress cuts an address into the path of the document and the id in it.
func splitAddress(address string) (path, id string) {
	if i := strings.LastIndexByte(address, '/'); i >= 0 {
		return address[:i], address[i+1:]
	}
	return "", address
}

const (
	// maxEvents is how many events of a run are read at most: what does not fit into
	// memory does not fit into a page.
	maxEvents = 250_000
	// readWidth is how many child streams are read at a time.
	readWidth = 8
)

// readRun reads the documents of a run, in the order of the tree. whole is false if
// some were left out because there are too many events.
func readRun(ctx context.Context, p *processor.Processor, name string) (docs []*document, whole bool, err error) {
	own, err := p.Document(ctx, name)
	if err != nil {
		return nil, false, err
	}
	root := &document{Document: own}
	events := own.Stream.Len()
	level := []*document{root}
	whole = true
	for len(level) > 0 && events < maxEvents {
		level, err = childrenOf(ctx, level)
		if err != nil {
			return nil, false, err
		}
		for _, d := range level {
			events += d.Stream.Len()
		}
		whole = events < maxEvents
	}
	return inOrder(nil, root), whole, nil
}

// childrenOf reads the child streams of documents, several at a time.
func childrenOf(ctx context.Context, docs []*document) ([]*document, error) {
	var waiting []*document
	for _, d := range docs {
		for e := range d.Stream.Events() {
			if e.IsBatch() {
				waiting = append(waiting, &document{above: d, stands: e})
			}
		}
	}
	var (
		readers sync.WaitGroup
		mu      sync.Mutex // guards failed
		failed  error
	)
	turns := make(chan *document, len(waiting))
	for _, d := range waiting {
		turns <- d
	}
	close(turns)
	for range min(readWidth, len(waiting)) {
		readers.Go(func() { // until all are read
			for d := range turns {
				child, err := d.above.Child(ctx, d.stands)
				d.Document = child
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	readers.Wait()
	return adopt(waiting), failed
}

// adopt hangs those that are there below the events that stand for them.
func adopt(docs []*document) []*document {
	var there []*document
	for _, d := range docs {
		if d.Document == nil {
			continue // it is not made yet
		}
		if d.above.below == nil {
			d.above.below = map[*eventstream.Event]*document{}
		}
		d.above.below[d.stands] = d
		there = append(there, d)
	}
	return there
}

func inOrder(docs []*document, d *document) []*document {
	docs = append(docs, d)
	for e := range d.Stream.Events() {
		if child := d.below[e]; child != nil {
			docs = inOrder(docs, child)
		}
	}
	return docs
}

// events are all events of a run in the order of the tree, but for those that only
// hold its documents together.
func (s *snapshot) events() iter.Seq[event] {
	return func(yield func(event) bool) {
		for _, d := range s.docs {
			for e := range d.Stream.Events() {
				if ev := (event{d, e}); !ev.frame() && !yield(ev) {
					return
				}
			}
		}
	}
}

// byStatus are the events of a status.
func (s *snapshot) byStatus(status eventstream.Status) iter.Seq[event] {
	return func(yield func(event) bool) {
		for _, d := range s.docs {
			for e := range d.Stream.ByStatus(status) {
				if ev := (event{d, e}); !ev.frame() && !yield(ev) {
					return
				}
			}
		}
	}
}

// document is the document of a path; nil if there is none.
func (s *snapshot) document(path string) *document {
	for _, d := range s.docs {
		if d.path() == path {
			return d
		}
	}
	return nil
}

// event finds an event by its address.
func (s *snapshot) event(address string) (event, bool) {
	path, id := splitAddress(address)
	d := s.document(path)
	if d == nil {
		return event{}, false
	}
	e := d.Stream.Event(id)
	return event{d, e}, e != nil
}
