package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/scope/store"
)

type leaseAcquire struct {
	duration period
	id       string
	wait     time.Duration
}

func (a *app) newLeaseAcquire() *cobra.Command {
	o := leaseAcquire{duration: leasePeriod()}
	cmd := a.onLease("acquire", "Acquire a lease and print its ID",
		func(ctx context.Context, st store.Store, name string) error {
			result, err := o.acquire(ctx, st, name)
			if err != nil {
				return err
			}
			return a.showLeaseID(result)
		})
	cmd.Flags().Var(&o.duration, "duration", "how long it lasts: `DURATION` of 15s to 60s, or infinite")
	cmd.Flags().StringVar(&o.id, "id", "", "the lease ID to take, a `GUID` (default a new one)")
	cmd.Flags().DurationVar(&o.wait, "wait", 0, "how long to wait for a lease that is held")
	return cmd
}

// acquire asks for the lease until it gets it or the time to wait is over. No
// Holder goes with it: this process ends at once, and others would take the lease
// for a dead one's. The ID is made here, so that it is known if the answer is
// lost, and asking again with it can only renew what was granted already.
func (o *leaseAcquire) acquire(ctx context.Context, st store.Store, name string) (*store.LeaseResult, error) {
	r := &store.LeaseRequest{Action: store.LeaseAcquire, ID: o.id, Duration: o.duration.value}
	if r.ID == "" {
		r.ID = uuid.NewString()
	}
	deadline := time.Now().Add(o.wait)
	for {
		result, err := st.Lease(ctx, name, r)
		if err == nil {
			return result, nil
		}
		pause := min(acquirePause(st), time.Until(deadline))
		if !mayPass(err) || pause <= 0 {
			return nil, withID(r.ID, err)
		}
		select {
		case <-ctx.Done():
			return nil, withID(r.ID, err)
		case <-time.After(pause):
		}
	}
}

// mayPass tells whether the same request may succeed later.
func mayPass(err error) bool {
	return outcomeUnknown(err) || errors.Is(err, store.ErrThrottled) || errors.Is(err, store.ErrStoreLocked) ||
		errors.Is(err, store.ErrLeaseHeld) || errors.Is(err, store.ErrLeaseBreaking)
}

func outcomeUnknown(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && e.Sentinel == nil
}

// withID names the lease ID where it is unknown whether the lease was granted.
func withID(id string, err error) error {
	if outcomeUnknown(err) {
		return fmt.Errorf("%w; the lease ID would be %s", err, id)
	}
	return err
}

// acquirePause is how long to wait before asking again, with jitter so that many
// waiters do not ask at once.
func acquirePause(st store.Store) time.Duration {
	longest := 2 * time.Second
	if store.IsLocal(st) {
		longest = 100 * time.Millisecond
	}
	return longest/2 + rand.N(longest/2)
}
