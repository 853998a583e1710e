package scope_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// remedied says what to do by itself.
type remedied struct{ error }

func (remedied) Remedied() {}

func TestAdvice(t *testing.T) {
	refusal := func(code string) error {
		return &store.Error{Op: "put", Name: "a", Code: code, Sentinel: store.SentinelOf(code)}
	}
	for _, test := range []struct {
		err  error
		want string // in the advice; "" for none
	}{
		{refusal("LeaseIdMismatchWithBlobOperation"), "acquire it anew, with an ID of your own"},
		{refusal("LeaseIdMissing"), "name the lease ID"},
		{refusal("LeaseNotPresentWithBlobOperation"), "released, or broken"},
		{refusal("LeaseLost"), "renewed in time"},
		{refusal("LeaseAlreadyPresent"), "break the lease"},
		{refusal("ServerBusy"), "fewer workers"},
		{refusal("AuthorizationFailure"), "role"},
		{refusal("ContainerNotFound"), "create the container"},
		{errors.New("dial tcp: no such host"), "network"},
		{remedied{errors.New("the disk is full: free some space")}, "may have taken effect"},
		{context.Canceled, ""},
		{refusal("BlobNotFound"), ""},
	} {
		got := scope.Advice(test.err)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("Advice(%v) = %q, want %q in it", test.err, got, test.want)
		}
		if store.IsRemedied(test.err) && strings.Contains(got, "network") {
			t.Errorf("Advice(%v) = %q, though the error says what to do", test.err, got)
		}
	}
}

func TestErrors_SayWhatAndHowLong(t *testing.T) {
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	holder := &store.Holder{Host: "host1", PID: 4711}
	for _, test := range []struct {
		err   error
		is    []error
		texts []string
	}{
		{&scope.HeldError{Blob: "a", Lease: store.LeaseInfo{State: store.LeaseLeased, Expires: at, Holder: holder}, Polls: 3, Waited: time.Second},
			[]error{store.ErrLeaseHeld}, []string{`"a"`, "process 4711 on host1", "until 2026-11-30T08:00:00Z unless it is renewed", "waited 1s", "break"}},
		{&scope.HeldError{Lease: store.LeaseInfo{State: store.LeaseLeased, Infinite: true}},
			[]error{store.ErrLeaseHeld}, []string{"the container", "without an end"}},
		{&scope.HeldError{Blob: "a", Lease: store.LeaseInfo{State: store.LeaseBreaking, Expires: at}},
			[]error{store.ErrLeaseHeld}, []string{"until its break ends at 2026-11-30T08:00:00Z"}},
		{&scope.HeldError{Blob: "a", Err: context.DeadlineExceeded},
			[]error{store.ErrLeaseHeld, context.DeadlineExceeded}, []string{"for up to 1m0s unless it is renewed", "deadline exceeded"}},
		{&scope.LostError{Blob: "a", ID: "id", Acquired: at, Renewed: at.Add(time.Minute)},
			[]error{scope.ErrLeaseLost}, []string{"lease id", `"a"`, "2026-11-30T08:00:00Z", "2026-11-30T08:01:00Z", "not renewed in time", "begin anew"}},
		{&scope.LostError{Blob: "a", ID: "id", Trouble: errReset},
			[]error{scope.ErrLeaseLost}, []string{"not renewed in time: " + errReset.Error(), "begin anew"}},
		{&scope.LostError{Blob: "a", ID: "id", Err: store.ErrLeaseMismatch},
			[]error{scope.ErrLeaseLost, store.ErrLeaseMismatch}, []string{store.ErrLeaseMismatch.Error()}},
		{&scope.OutcomeError{Op: "edit", Blob: "a", Err: errReset},
			[]error{scope.ErrOutcomeUnknown, errReset}, []string{"edit", `"a"`, "may have taken effect", "read the blob"}},
		{&scope.Error{Op: "edit", Blob: "a", Err: store.ErrThrottled},
			[]error{store.ErrThrottled}, []string{"edit", `"a"`, "slow down"}},
	} {
		wantErr(t, "error", test.err, test.is...)
		for _, text := range test.texts {
			if !strings.Contains(test.err.Error(), text) {
				t.Errorf("%q lacks %q", test.err, text)
			}
		}
	}
}
