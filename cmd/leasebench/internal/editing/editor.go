package editing

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// editor makes one edit and returns how long it had to wait for its turn. If ctx
// ends while it waits, it gives up, with errLate; what it has begun, it finishes.
type editor func(ctx context.Context) (waited time.Duration, err error)

var errLate = errors.New("the time is over")

// ours edits through a scope that all workers share.
func ours(sc *scope.Scope, blob string, worker int) editor {
	return func(ctx context.Context) (time.Duration, error) {
		r, err := sc.Edit(context.WithoutCancel(ctx), blob, func(s *eventstream.Stream) error { return change(s, worker) })
		if err != nil {
			return 0, err
		}
		return r.Waited, nil
	}
}

// article edits as the article does, with a client of the worker's own. pause is
// how long it waits before it asks for the lease again.
func article(st store.Store, blob string, worker int, pause func() time.Duration) editor {
	return func(ctx context.Context) (time.Duration, error) {
		began, id := time.Now(), uuid.NewString()
		err := acquire(ctx, st, blob, id, pause)
		waited := time.Since(began)
		if err != nil {
			return waited, err
		}
		ctx = context.WithoutCancel(ctx)
		err = editUnder(ctx, st, blob, id, worker)
		_, released := st.Lease(ctx, blob, &store.LeaseRequest{Action: store.LeaseRelease, ID: id})
		return waited, errors.Join(err, released)
	}
}

func acquire(ctx context.Context, st store.Store, blob, id string, pause func() time.Duration) error {
	for {
		_, err := st.Lease(context.WithoutCancel(ctx), blob, &store.LeaseRequest{
			Action: store.LeaseAcquire, ID: id, Duration: store.MaxLease,
		})
		if !errors.Is(err, store.ErrLeaseHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return errLate
		case <-time.After(pause()):
		}
	}
}

func editUnder(ctx context.Context, st store.Store, blob, id string, worker int) error {
	o, err := st.Get(ctx, blob, nil)
	if err != nil {
		return err
	}
	s, err := eventstream.Parse(o.Body)
	if err != nil {
		return err
	}
	if _, err := s.Edit(time.Now(), func() error { return change(s, worker) }); err != nil {
		return err
	}
	_, err = st.Put(ctx, blob, s.Bytes(), &store.PutOptions{Conditions: store.Conditions{LeaseID: id}})
	return err
}

// articlePause is the random wait of the article, and noPause none.
func articlePause() time.Duration {
	return 750*time.Millisecond + rand.N(1750*time.Millisecond)
}

func noPause() time.Duration { return 0 }
