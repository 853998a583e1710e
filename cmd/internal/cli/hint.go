package cli

import (
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// hintFor says what an operator can do about an error of the store; "" where the
// error says it all.
func hintFor(err error) string {
	e, ok := errors.AsType[*store.Error](err)
	if !ok || advised(err) {
		return ""
	}
	target := e.Name
	if target == "" {
		target = "--container"
	}
	switch e.Sentinel {
	case store.ErrContainerNotFound:
		return "leasestream run, start or blob put creates it"
	case store.ErrLeaseMissing:
		return fmt.Sprintf("give its ID with --lease-id, or see who has it: leasestream lease show %s", target)
	case store.ErrLeaseHeld:
		return fmt.Sprintf("wait for it with --wait, or take it away: leasestream lease break %s", target)
	}
	if e.Sentinel == nil && reads[e.Op] {
		if store.IsRemedied(e) {
			return ""
		}
		return "check the network and the address of the store"
	}
	return scope.Advice(e)
}

// reads are the requests that leave nothing to wonder about if the answer is
// missing.
var reads = map[string]bool{"get": true, "stat": true, "list": true, "list containers of": true}

// advised tells whether package scope has put its advice into the error.
func advised(err error) bool {
	for _, is := range []func(error) bool{
		isType[*scope.Error], isType[*scope.HeldError], isType[*scope.LostError], isType[*scope.OutcomeError],
	} {
		if is(err) {
			return true
		}
	}
	return false
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
