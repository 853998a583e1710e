package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// leaseErrors are those for which it helps to know what lease is in force.
var leaseErrors = []error{
	store.ErrLeaseHeld, store.ErrLeaseMissing, store.ErrLeaseMismatch,
	store.ErrLeaseNotPresent, store.ErrLeaseLost, store.ErrLeaseBreaking,
}

// explain adds to an error about a lease how long the one in force can last, and
// who holds it. An error that tells is left as it is, and so is one of which
// nothing more can be found out.
func explain(ctx context.Context, st store.Store, err error) error {
	e, ok := errors.AsType[*store.Error](err)
	if !ok || advised(err) || !slices.Contains(leaseErrors, e.Sentinel) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	info, lookErr := st.Stat(ctx, e.Name, nil)
	if lookErr != nil {
		return err
	}
	return fmt.Errorf("%w: %s", err, inForce(info.Lease))
}

// inForce says of a lease how long it can last, and who holds it.
func inForce(l store.LeaseInfo) string {
	text := ""
	switch {
	case !l.State.Locked():
		return fmt.Sprintf("now no lease is in force (%s)", l.State)
	case l.State == store.LeaseBreaking && l.Expires.IsZero():
		text = fmt.Sprintf("its break ends within %v", store.MaxBreakPeriod)
	case l.State == store.LeaseBreaking:
		text = "its break ends at " + shownTime(l.Expires)
	case l.Infinite:
		text = "it has no end"
	case l.Expires.IsZero():
		text = fmt.Sprintf("it lasts for up to %v unless it is renewed", store.MaxLease)
	default:
		text = fmt.Sprintf("it lasts until %s unless it is renewed", shownTime(l.Expires))
	}
	if l.Holder != nil {
		text += ", held by " + shownHolder(l.Holder)
	}
	return text
}
