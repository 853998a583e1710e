package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func TestError_Text(t *testing.T) {
	for _, c := range []struct {
		err  store.Error
		want string
	}{
		{store.Error{Op: "put", Name: "a b", Code: "LeaseIdMissing", Sentinel: store.ErrLeaseMissing},
			`put "a b": blob is leased and no lease ID was given (LeaseIdMissing)`},
		{store.Error{Op: "delete", Code: "ContainerNotFound", RequestID: "r-1", Sentinel: store.ErrContainerNotFound},
			`delete container: container not found (ContainerNotFound, request r-1)`},
		{store.Error{Op: "acquire", Name: "a", Code: "InvalidHeaderValue", Detail: "7s", Sentinel: store.ErrInvalid},
			`acquire "a": invalid request: 7s (InvalidHeaderValue)`},
		{store.Error{Op: "put", Name: "a", Err: context.Canceled}, `put "a": context canceled`},
		{store.Error{Op: "put", Name: "a"}, `put "a": outcome unknown`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("Error() = %s, want %s", got, c.want)
		}
	}
}

func TestError_Unwrap(t *testing.T) {
	cause := errors.New("412 Precondition Failed")
	var err error = &store.Error{Sentinel: store.ErrConditionNotMet, Err: cause}
	if !errors.Is(err, store.ErrConditionNotMet) || !errors.Is(err, cause) {
		t.Errorf("%v is not both its sentinel and its cause", err)
	}
	if err := error(&store.Error{}); errors.Is(err, store.ErrNotFound) {
		t.Errorf("an error of unknown outcome matches %v", store.ErrNotFound)
	}
}

func TestCode(t *testing.T) {
	wrapped := errors.Join(errors.New("x"), &store.Error{Code: "LeaseLost"})
	for err, want := range map[error]string{wrapped: "LeaseLost", errors.New("y"): "", nil: ""} {
		if got := store.Code(err); got != want {
			t.Errorf("Code(%v) = %q, want %q", err, got, want)
		}
	}
	if got := store.SentinelOf("InternalError"); got != nil {
		t.Errorf("SentinelOf(InternalError) = %v, want nil: it says nothing about the outcome", got)
	}
}

func TestLeaseState(t *testing.T) {
	for state, want := range map[store.LeaseState]string{
		store.LeaseAvailable: "unlocked", store.LeaseLeased: "locked", store.LeaseExpired: "unlocked",
		store.LeaseBreaking: "locked", store.LeaseBroken: "unlocked",
	} {
		if got := state.Status(); got != want || state.Locked() != (want == "locked") {
			t.Errorf("%s: Status() = %s, Locked() = %t, want %s", state, got, state.Locked(), want)
		}
	}
}

// remote hides that the store beneath is local.
type remote struct{ store.Store }

func TestIsLocal(t *testing.T) {
	s := memstore.New(nil)
	if !store.IsLocal(s) || store.IsLocal(remote{s}) {
		t.Errorf("IsLocal() = %t of memstore and %t of one that does not say so", store.IsLocal(s), store.IsLocal(remote{s}))
	}
}
