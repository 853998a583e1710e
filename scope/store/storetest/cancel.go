package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func cancelChecks() []check {
	return []check{
		{key: "cancel/before the call", run: cancelBefore},
		{key: "cancel/during the call", run: cancelDuring},
	}
}

// cancelBefore calls everything with a context that has ended: nothing may
// happen, and the error may not claim to know that.
func cancelBefore(t *testing.T, s store.Store) {
	put := mustPut(t, s, "a", "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := map[string]error{"create": s.Create(ctx), "delete": s.Delete(ctx, "a", nil)}
	_, errs["get"] = s.Get(ctx, "a", nil)
	_, errs["put"] = s.Put(ctx, "a", []byte("new"), nil)
	_, errs["stat"] = s.Stat(ctx, "a", nil)
	_, errs["lease"] = s.Lease(ctx, "a", new(acquire(idA, store.MinLease)))
	for op, err := range errs {
		if e, ok := errors.AsType[*store.Error](err); !errors.Is(err, context.Canceled) || !ok || e.Sentinel != nil {
			t.Errorf("%s with a canceled context = %v, want context.Canceled and an outcome that is unknown", op, err)
		}
	}
	got := mustGet(t, s, "a")
	if got.ETag != put.ETag || got.Lease.State != store.LeaseAvailable {
		t.Errorf("after calls with a canceled context: %+v, want %+v", got.Info, put)
	}
}

// cancelDuring cancels writes at any moment: what returns no error has happened,
// and what returns one has happened whole or not at all.
func cancelDuring(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "0", nil)
	race(racers, func(i int) error {
		ctx, cancel := context.WithCancel(t.Context())
		var canceler sync.WaitGroup
		defer canceler.Wait()
		defer cancel()
		if i%2 == 0 {
			canceler.Go(cancel)
		}
		c := store.Conditions{IfNoneMatch: store.AnyETag}
		_, err := s.Put(ctx, guid(i), []byte(guid(i)), &store.PutOptions{Conditions: c})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Put() that is canceled = %v", err)
		}
		got, readErr := s.Get(t.Context(), guid(i), nil)
		switch {
		case readErr == nil && string(got.Body) != guid(i):
			t.Errorf("Get() = %q, want %q", got.Body, guid(i))
		case readErr != nil && (err == nil || !errors.Is(readErr, store.ErrNotFound)):
			t.Errorf("Get() = %v after Put() = %v", readErr, err)
		}
		return err
	})
}
