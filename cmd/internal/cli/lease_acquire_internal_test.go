package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

const someID = "11111111-1111-4111-8111-111111111111"

// leasedStore has one blob, b, with a lease of 15 s.
func leasedStore(t *testing.T) store.Store {
	t.Helper()
	s := memstore.New(nil)
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "b", nil, nil); err != nil {
		t.Fatal(err)
	}
	r := &store.LeaseRequest{Action: store.LeaseAcquire, Duration: 15 * time.Second}
	if _, err := s.Lease(t.Context(), "b", r); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLeaseAcquire_Waits(t *testing.T) {
	for _, test := range []struct {
		name      string
		wait      time.Duration
		want      error
		wantAfter time.Duration
	}{
		{"long enough", time.Minute, nil, 15 * time.Second},
		{"not long enough", 10 * time.Second, store.ErrLeaseHeld, 10 * time.Second},
		{"not at all", 0, store.ErrLeaseHeld, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := leasedStore(t), time.Now()
				o := &leaseAcquire{duration: leasePeriod(), id: someID, wait: test.wait}
				result, err := o.acquire(t.Context(), s, "b")
				if !errors.Is(err, test.want) || err == nil && result.ID != someID {
					t.Errorf("acquire() = %+v, %v, want %v", result, err, test.want)
				}
				if after := time.Since(start).Truncate(time.Second); after != test.wantAfter {
					t.Errorf("acquire() took %v, want %v", after, test.wantAfter)
				}
			})
		})
	}
}

func TestLeaseAcquire_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s, start := leasedStore(t), time.Now()
		_, err := (&leaseAcquire{duration: leasePeriod(), wait: time.Hour}).acquire(ctx, s, "b")
		if !errors.Is(err, store.ErrLeaseHeld) || time.Since(start) != 3*time.Second {
			t.Errorf("acquire() = %v after %v, want %v after 3s", err, time.Since(start), store.ErrLeaseHeld)
		}
	})
}

// lostAnswers loses the answers of the first calls.
func lostAnswers(s store.Store, first int) store.Store {
	return storetest.NewFaults(s, func(c storetest.Call) (bool, error) {
		if c.N <= first {
			return true, errors.New("connection reset")
		}
		return true, nil
	})
}

func TestLeaseAcquire_AnswerLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := leasedStore(t)
		time.Sleep(15 * time.Second)
		o := &leaseAcquire{duration: leasePeriod(), id: someID}
		_, err := o.acquire(t.Context(), lostAnswers(s, 1), "b")
		if err == nil || !strings.Contains(err.Error(), "connection reset; the lease ID would be "+someID) {
			t.Errorf("acquire() = %v, want an error with the lease ID", err)
		}
		// Asked again, it is ours already.
		o.wait = time.Minute
		if result, err := o.acquire(t.Context(), lostAnswers(s, 3), "b"); err != nil || result.ID != someID {
			t.Errorf("acquire() with time to wait = %+v, %v, want lease %s", result, err, someID)
		}
	})
}
