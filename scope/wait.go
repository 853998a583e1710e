package scope

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store"
)

// errNobody ends a wait for a lease that nobody needs any more.
var errNobody = errors.New("nobody waits for the lease any more")

// acquire waits for the lease for as long as someone waits for the edits.
func (l *line) acquire() (lease *Lease, err error) {
	err = l.whileAwaited(func(ctx context.Context, a *acquisition) (err error) {
		lease, err = a.run(ctx)
		return err
	})
	return lease, err
}

// whileAwaited runs f with a context that ends when nobody waits for the edits any
// more, or the scope is closed.
func (l *line) whileAwaited(f func(context.Context, *acquisition) error) error {
	ctx, cancel := context.WithCancelCause(l.s.open)
	defer cancel(nil)
	if !l.await(cancel) {
		return errNobody
	}
	defer l.awaited()
	turn := &turn{s: l.s}
	return f(ctx, &acquisition{
		s: l.s, blob: l.blob, id: uuid.NewString(), terms: l.s.set.terms, wait: waitForever, seen: l.saw,
		turn: turn, yields: l.comesBack(), waits: func(ctx context.Context, info *store.Info) { l.readAhead(ctx, info, turn) },
	})
}

func (l *line) await(nobody context.CancelCauseFunc) bool {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.nobody = nobody
	return l.callers > 0
}

func (l *line) awaited() {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.nobody, l.held = nil, nil
}

func (l *line) saw(lease store.LeaseInfo) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.held = &lease
}

// worthReading is the part of the time of a waiter that reading ahead may take.
const worthReading = 1.0 / 4

// readAhead reads the document while somebody else holds the lease, so that at our
// turn there is little left to read: all other writers wait for that. To parse it the
// first time takes long, and is for everyone; to follow it is for the next in line.
// An error will come up again at our turn.
func (l *line) readAhead(ctx context.Context, info *store.Info, turn *turn) {
	began := time.Now()
	switch {
	case !l.s.local || l.s.set.strategy != Leased || l.aheadETag == info.ETag:
		return
	case l.doc != nil && (!turn.next || l.doc.etag == info.ETag):
		return
	case float64(l.aheadTook) > worthReading*float64(began.Sub(l.ahead)):
		return
	}
	_ = within(ctx, l.s.set.call, func(ctx context.Context) error {
		info, body, err := store.GetPieces(ctx, l.s.st, l.blob, l.known(), nil)
		if err != nil {
			return err
		}
		doc, err := l.take(info, body)
		if err == nil {
			doc.ahead = true
		}
		return err
	})
	l.ahead, l.aheadETag = time.Now(), info.ETag
	l.aheadTook = l.ahead.Sub(began)
}
