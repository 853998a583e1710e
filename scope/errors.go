package scope

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

var (
	// ErrLeaseLost: the lease is not held any more, or may not be: it was broken,
	// it ran out, or it could not be renewed in time. What was protected by it has
	// to be done again under a new one.
	ErrLeaseLost = errors.New("lease lost")
	// ErrOutcomeUnknown: a write was sent, and whether it took effect could not be
	// found out. Only who reads the blob knows.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrReleased: the lease was released and is of no more use.
	ErrReleased = errors.New("lease was released")
	// ErrClosed: the scope or the keeper was closed. The edit was not applied.
	ErrClosed = errors.New("closed")
)

// Error is a request that the store refused, or did not answer, with what can be
// done about it.
type Error struct {
	Op   string // what was to be done, such as "edit" or "acquire the lease of"
	Blob string // empty: the container
	Err  error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: %v", e.Op, blobName(e.Blob), e.Err)
	if advice := Advice(e.Err); advice != "" {
		text += "; " + advice
	}
	return text
}

// Unwrap gives the error of the store.
func (e *Error) Unwrap() error { return e.Err }

// HeldError says that someone else holds the lease. It matches
// store.ErrLeaseHeld.
type HeldError struct {
	Blob   string
	Lease  store.LeaseInfo // as far as the store tells
	Polls  int             // how often the lease was asked for or looked at
	Waited time.Duration
	Err    error // what ended the wait; may be nil
}

func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "lease of %s is held", blobName(e.Blob))
	if h := e.Lease.Holder; h != nil {
		fmt.Fprintf(&b, " by process %d on %s", h.PID, h.Host)
	}
	b.WriteString(howLong(e.Lease))
	if e.Polls > 1 {
		fmt.Fprintf(&b, "; waited %v, looked %d times", e.Waited.Round(time.Millisecond), e.Polls)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	b.WriteString("; wait for it, or break the lease if its holder is gone for good")
	return b.String()
}

// howLong says how long a held lease can last.
func howLong(l store.LeaseInfo) string {
	switch {
	case l.State == store.LeaseLeased && l.Infinite:
		return " without an end"
	case !l.Expires.IsZero() && l.State == store.LeaseBreaking:
		return " until its break ends at " + l.Expires.UTC().Format(time.RFC3339)
	case !l.Expires.IsZero():
		return fmt.Sprintf(" until %s unless it is renewed", l.Expires.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf(" for up to %v unless it is renewed", store.MaxLease)
}

// Unwrap makes the error match store.ErrLeaseHeld and what ended the wait.
func (e *HeldError) Unwrap() []error { return withSentinel(store.ErrLeaseHeld, e.Err) }

// LostError says how a lease was lost. It matches ErrLeaseLost.
type LostError struct {
	Blob     string
	ID       string    // of the lease
	Acquired time.Time // when it was acquired, by our clock
	Renewed  time.Time // when it was last granted, by our clock
	Trouble  error     // what the last renewal met; nil: nothing that is known
	Err      error     // what the store said; nil: it was not renewed in time
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("%v: lease %s of %s, acquired %s, last granted %s", ErrLeaseLost, e.ID, blobName(e.Blob),
		e.Acquired.UTC().Format(time.RFC3339), e.Renewed.UTC().Format(time.RFC3339))
	switch {
	case e.Err != nil:
		text += ": " + e.Err.Error()
	case e.Trouble != nil:
		text += ", was not renewed in time: " + e.Trouble.Error()
	default:
		text += ", was not renewed in time"
	}
	return text + "; acquire it again and begin anew"
}

// Unwrap makes the error match ErrLeaseLost and what the store said.
func (e *LostError) Unwrap() []error { return withSentinel(ErrLeaseLost, e.Err) }

// OutcomeError says of which write the outcome is not known. It matches
// ErrOutcomeUnknown.
type OutcomeError struct {
	Op   string // "edit", "create", …
	Blob string
	Err  error // why it could not be found out
}

func (e *OutcomeError) Error() string {
	return fmt.Sprintf("%s %q: %v: the write may have taken effect: %v; read the blob before you do it again",
		e.Op, e.Blob, ErrOutcomeUnknown, e.Err)
}

// Unwrap makes the error match ErrOutcomeUnknown and the reason.
func (e *OutcomeError) Unwrap() []error { return withSentinel(ErrOutcomeUnknown, e.Err) }

func withSentinel(sentinel, err error) []error {
	if err == nil {
		return []error{sentinel}
	}
	return []error{sentinel, err}
}

func blobName(blob string) string {
	if blob == "" {
		return "the container"
	}
	return fmt.Sprintf("%q", blob)
}

// Advice says what an operator can do about an error of a store; "" if there is
// nothing to say beyond its text.
func Advice(err error) string {
	for _, a := range advice {
		if errors.Is(err, a.err) {
			return a.text
		}
	}
	switch {
	case known(err) || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled):
		return ""
	case store.IsRemedied(err):
		return "a write may have taken effect"
	}
	return "check the network and the address of the store; a write may have taken effect"
}

var advice = []struct {
	err  error
	text string
}{
	{store.ErrLeaseHeld, "someone else works on the blob: wait, or break the lease if its holder is gone for good"},
	{store.ErrLeaseBreaking, "the lease is being broken: it is free when the break period is over"},
	{store.ErrLeaseMismatch, "the lease has passed to another holder: acquire it anew, with an ID of your own"},
	{store.ErrLeaseMissing, "the blob is leased: name the lease ID, wait until the lease ends, or break it"},
	{store.ErrLeaseNotPresent, "the lease was released, or broken, or the blob was replaced: acquire it anew"},
	{store.ErrLeaseLost, "the lease ran out: acquire it anew, and see that it is renewed in time"},
	{store.ErrConditionNotMet, "the blob was changed meanwhile: read it again"},
	{store.ErrContainerNotFound, "create the container first, or check the address of the store"},
	{store.ErrThrottled, "the store asks to slow down: use fewer workers, or a store with a higher limit"},
	{store.ErrUnauthorized, "check the key, the SAS and its end, or the role: reading, writing and deleting blobs is needed"},
	{store.ErrTooLarge, "move large payloads into blobs of their own"},
}

// sentinels are the errors of a store that say that nothing was changed.
var sentinels = []error{
	store.ErrNotFound, store.ErrContainerNotFound, store.ErrExists, store.ErrConditionNotMet,
	store.ErrLeaseHeld, store.ErrLeaseMissing, store.ErrLeaseMismatch, store.ErrLeaseNotPresent,
	store.ErrLeaseLost, store.ErrLeaseBreaking, store.ErrThrottled, store.ErrStoreLocked, store.ErrUnauthorized,
	store.ErrTooLarge, store.ErrDamaged, store.ErrInvalid,
}

// endedBy is err, and what ended the attempts that followed on it, if something
// did.
func endedBy(cause, err error) error {
	if cause == nil {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

func isAny(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// known reports whether the store said that it changed nothing.
func known(err error) bool { return isAny(err, sentinels) }

// passing reports whether the same request may succeed a moment later: there was
// no answer, or the store is too busy for one.
func passing(err error) bool {
	return !known(err) || errors.Is(err, store.ErrThrottled) || errors.Is(err, store.ErrStoreLocked)
}

// missing reports whether there is no such blob.
func missing(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrContainerNotFound)
}

// heldByOther reports whether an acquire found the lease taken.
func heldByOther(err error) bool {
	return errors.Is(err, store.ErrLeaseHeld) || errors.Is(err, store.ErrLeaseBreaking)
}

// notOurs reports whether a request that named a lease ID was refused since that
// lease is not in force any more.
func notOurs(err error) bool {
	return isAny(err, []error{store.ErrLeaseLost, store.ErrLeaseMismatch, store.ErrLeaseNotPresent,
		store.ErrLeaseBreaking, store.ErrLeaseMissing, store.ErrLeaseHeld})
}
