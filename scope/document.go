package scope

import (
	"context"
	"errors"
	"fmt"
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
	ahead  bool // it was read while somebody else held the lease
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
	began := time.Now()
	var info *store.Info
	var body *store.Body
	err := l.s.insist(context.Background(), l.s.set.call, func(ctx context.Context) (err error) {
		info, body, err = store.GetPieces(ctx, l.s.st, l.blob, l.known(), c)
		return err
	})
	switch {
	case err == nil:
		defer t.loaded(began)
		t.etag = info.ETag
		return l.take(info, body)
	case errors.Is(err, store.ErrConditionNotMet) && l.doc != nil:
		return l.doc, nil
	case errors.Is(err, store.ErrDamaged):
		return nil, untouched(l.blob, malformed(err))
	case notOurs(err):
		t.lose(err)
		return nil, errAgain
	}
	return nil, &Error{"edit", l.blob, err}
}

// take reads what others have written. What we last had of it is where most of
// that stands already.
func (l *line) take(info *store.Info, body *store.Body) (*document, error) {
	l.s.stats.reads.Add(1)
	stream, err := l.parse(body)
	if err != nil {
		return nil, untouched(l.blob, err)
	}
	if len(body.Pieces) == 1 { // the stream has the same text, and need not be kept twice
		body = &store.Body{Pieces: stream.Pieces()}
	}
	l.doc = &document{stream: stream, etag: info.ETag, meta: info.Metadata, stored: &content{body: body}}
	return l.doc, nil
}

// known is the document as the store knows it from us.
func (l *line) known() *store.Body {
	if l.doc == nil {
		return nil
	}
	return l.doc.stored.body
}

func (l *line) parse(body *store.Body) (*eventstream.Stream, error) {
	if l.doc == nil {
		return eventstream.Parse(body.Bytes())
	}
	return l.doc.stream.ReloadPieces(body.Pieces)
}

// untouched is the error of an edit of a document that cannot be read.
func untouched(blob string, err error) error {
	return fmt.Errorf("edit %q: nothing is written over it: %w", blob, err)
}

// malformed makes of a damaged body what it is to those who wanted a stream.
func malformed(damaged error) error {
	return fmt.Errorf("%w: %w", eventstream.ErrMalformed, damaged)
}
