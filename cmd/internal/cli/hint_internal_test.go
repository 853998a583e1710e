package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// Every code of the three troubles with leases (another ID, no ID, no lease), and
// of throttling, access and the network, comes with what to do about it.
func TestHintFor(t *testing.T) {
	for _, test := range []struct{ op, code, want string }{
		{"put", "LeaseIdMismatchWithBlobOperation", "acquire it anew"},
		{"delete", "LeaseIdMismatchWithContainerOperation", "acquire it anew"},
		{"renew", "LeaseIdMismatchWithLeaseOperation", "acquire it anew"},
		{"put", "LeaseIdMissing", "leasestream lease show b"},
		{"put", "LeaseNotPresentWithBlobOperation", "acquire it anew"},
		{"delete", "LeaseNotPresentWithContainerOperation", "acquire it anew"},
		{"release", "LeaseNotPresentWithLeaseOperation", "acquire it anew"},
		{"put", "LeaseLost", "see that it is renewed in time"},
		{"acquire", "LeaseAlreadyPresent", "leasestream lease break b"},
		{"acquire", "LeaseIsBreakingAndCannotBeAcquired", "when the break period is over"},
		{"change", "LeaseIsBreakingAndCannotBeChanged", "when the break period is over"},
		{"renew", "LeaseIsBrokenAndCannotBeRenewed", "when the break period is over"},
		{"put", "ServerBusy", "use fewer workers"},
		{"put", "TooManyRequests", "use fewer workers"},
		{"get", "AuthenticationFailed", "check the key"},
		{"get", "AuthorizationFailure", "check the key"},
		{"get", "AuthorizationPermissionMismatch", "check the key"},
		{"get", "InsufficientAccountPermissions", "check the key"},
		{"get", "NoAuthenticationInformation", "check the key"},
		{"get", "InvalidAuthenticationInfo", "check the key"},
		{"get", "KeyBasedAuthenticationNotPermitted", "check the key"},
		{"get", "ContainerNotFound", "creates it"},
		{"put", "ConditionNotMet", "read it again"},
		{"put", "RequestBodyTooLarge", "blobs of their own"},
		{"get", "", "check the network and the address of the store"},
		{"list containers of", "", "check the network and the address of the store"},
		{"put", "OperationTimedOut", "a write may have taken effect"},
	} {
		err := &store.Error{Op: test.op, Name: "b", Code: test.code, Sentinel: store.SentinelOf(test.code)}
		if got := hintFor(err); !strings.Contains(got, test.want) {
			t.Errorf("hintFor(%v) = %q, want %q in it", err, got, test.want)
		}
		if got := hintFor(err); reads[test.op] && strings.Contains(got, "write") && test.code == "" {
			t.Errorf("hintFor(%v) = %q, but nothing was written", err, got)
		}
	}
}

// Package scope has given its advice already.
func TestHintFor_Advised(t *testing.T) {
	held := &store.Error{Op: "acquire", Name: "b", Sentinel: store.ErrLeaseHeld}
	for _, err := range []error{
		errors.New("something else"),
		&scope.HeldError{Blob: "b", Err: held},
		&scope.LostError{Blob: "b", Err: held},
		&scope.OutcomeError{Op: "edit", Blob: "b", Err: held},
		&scope.Error{Op: "edit", Blob: "b", Err: held},
	} {
		if got := hintFor(err); got != "" {
			t.Errorf("hintFor(%v) = %q, want nothing to add", err, got)
		}
	}
}
