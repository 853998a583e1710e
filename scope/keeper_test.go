package scope_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

func TestKeeper(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		k := s.NewKeeper(nil)
		if k.Has(blob) || k.ID(blob) != "" || k.Lease(blob) != nil {
			t.Error("an empty keeper has a lease")
		}
		for range 2 { // the second time it has it already
			if ok, err := k.Try(t.Context(), blob); !ok || err != nil {
				t.Fatalf("Try() = %t, %v", ok, err)
			}
		}
		if got := w.count("acquire"); got != 1 {
			t.Errorf("%d acquires, want 1", got)
		}
		time.Sleep(time.Minute)
		if !k.Has(blob) || k.ID(blob) != k.Lease(blob).ID() {
			t.Error("the lease is not kept")
		}
		other := s.NewKeeper(nil)
		if ok, err := other.Try(t.Context(), blob); ok || err != nil {
			t.Errorf("Try() of another keeper = %t, %v; want false, nil", ok, err)
		}
		if err := k.Release(t.Context(), blob); err != nil || k.Has(blob) {
			t.Errorf("Release() = %v, still has it: %t", err, k.Has(blob))
		}
		if err := k.Release(t.Context(), blob); err != nil {
			t.Errorf("second Release() = %v", err)
		}
		if ok, err := other.Try(t.Context(), blob); !ok || err != nil {
			t.Errorf("Try() after the release = %t, %v", ok, err)
		}
		if err := other.Close(); err != nil || w.leaseState() != store.LeaseAvailable {
			t.Errorf("Close() = %v, state %v", err, w.leaseState())
		}
		_, err := other.Try(t.Context(), blob)
		wantErr(t, "Try() after Close", err, scope.ErrClosed)
	})
}

func TestKeeper_LostIsAcquiredAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k := w.newScope(nil).NewKeeper(nil)
		if ok, err := k.Try(t.Context(), blob); !ok || err != nil {
			t.Fatal(ok, err)
		}
		lost := k.Lease(blob)
		w.breakLease()
		<-lost.Context().Done()
		if k.Has(blob) || k.ID(blob) != "" {
			t.Error("a lost lease still counts")
		}
		if ok, err := k.Try(t.Context(), blob); !ok || err != nil || k.ID(blob) == lost.ID() {
			t.Errorf("Try() after the loss = %t, %v with lease %s, want a fresh one", ok, err, k.ID(blob))
		}
	})
}

func TestKeeper_Adopt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
		_, err := w.in.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.MinLease})
		if err != nil {
			t.Fatal(err)
		}
		k := w.newScope(nil).NewKeeper(nil)
		if err := k.Adopt(t.Context(), blob, id); err != nil || k.ID(blob) != id {
			t.Errorf("Adopt() = %v, ID %q", err, k.ID(blob))
		}
	})
}

func TestKeeper_MissingBlob(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		_, err := s.NewKeeper(nil).Try(t.Context(), "none")
		wantErr(t, "Try()", err, store.ErrNotFound)
		if ok, err := s.NewKeeper(&scope.HoldOptions{Create: true}).Try(t.Context(), "none"); !ok || err != nil {
			t.Errorf("Try() with Create = %t, %v", ok, err)
		}
	})
}

// Two Trys of one keeper at once are one acquisition.
func TestKeeper_Concurrent(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k := w.newScope(nil).NewKeeper(nil)
		w.once("acquire", func() (bool, error) { time.Sleep(time.Second); return true, nil })
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if ok, err := k.Try(t.Context(), blob); !ok || err != nil {
					t.Errorf("Try() = %t, %v", ok, err)
				}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		time.Sleep(time.Microsecond)
		_, err := k.Try(ctx, blob)
		wantErr(t, "Try() that does not want to wait", err, context.DeadlineExceeded)
		wg.Wait()
		if got := w.count("acquire"); got != 1 {
			t.Errorf("%d acquires, want 1", got)
		}
	})
}

func TestKeeper_CloseDuringTry(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		k := w.newScope(nil).NewKeeper(nil)
		w.once("acquire", func() (bool, error) { time.Sleep(time.Second); return true, nil })
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := k.Try(t.Context(), blob)
			wantErr(t, "Try()", err, scope.ErrClosed)
		})
		time.Sleep(time.Millisecond)
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if got := w.leaseState(); got != store.LeaseAvailable {
			t.Errorf("state = %v, want available", got)
		}
	})
}
