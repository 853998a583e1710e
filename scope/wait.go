package scope

import (
	"context"
	"errors"

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
	return f(ctx, &acquisition{
		s: l.s, blob: l.blob, id: uuid.NewString(), terms: l.s.set.terms, wait: waitForever, seen: l.saw,
		turn: &turn{s: l.s}, yields: l.comesBack(), ready: l.readAhead,
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

// readAhead reads a document that is not in memory while somebody else holds the
// lease: to parse a large one takes as long as a turn. It is read once more when the
// turn is ours, and most of it will stand. An error will come up again then.
func (l *line) readAhead(ctx context.Context) {
	if l.doc != nil || !l.s.local || l.s.set.strategy != Leased {
		return
	}
	var info *store.Info
	var body *store.Body
	err := within(ctx, l.s.set.call, func(ctx context.Context) (err error) {
		info, body, err = store.GetPieces(ctx, l.s.st, l.blob, nil, nil)
		return err
	})
	if err == nil {
		info.ETag = "" // what stands there now is not what we have written
		_, _ = l.take(info, body)
	}
}
