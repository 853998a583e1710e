// Package store is the seam between Leasestream and the place where blobs live.
//
// A [Store] is one container of blobs with Azure's semantics: whole-object
// writes, ETags, metadata, conditional requests and the five lease states. Three
// drivers implement it (memstore, sqlitestore, azurestore) and all of them pass
// the same suite, storetest.
//
// # Outcomes
//
// An error that matches one of the sentinels of this package means that the
// store did not change. Any other error, an ended context included, means that
// the outcome is unknown: the request may have been carried out, and whoever has
// to know must look. Drivers never repeat a conditional write by themselves,
// since the second try would report a conflict with the first one.
//
// # Decorators
//
// A store around another one embeds the interface [Store], never the type of a driver:
// the optional methods of a driver ([Piecewise], [Versioner], Local) would be its own
// then, and requests would go by them past its Put and Get. With [Store] embedded, all
// bodies come through Put and Get, whole. What it wants to keep of the rest it passes
// on, as [IsLocal], [PutPieces] and [GetPieces] let it do for any store; the example of
// a decorator does.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Store is one container of blobs. All methods may be called concurrently.
//
// Names are 1 to 1,024 characters; the empty name stands for the container
// itself in Stat, Delete and Lease. Bodies and metadata passed in are neither
// kept nor changed after the call; those returned belong to the caller.
type Store interface {
	// Create makes the container. A container that is already there is no error.
	Create(ctx context.Context) error

	// Get reads a blob whole. ErrNotFound or ErrContainerNotFound if it is
	// missing, ErrConditionNotMet if a condition fails (IfNoneMatch on an
	// unchanged blob included), a lease sentinel if Conditions.LeaseID is given
	// and is not the active lease (an exclusive read).
	Get(ctx context.Context, name string, c *Conditions) (*Object, error)

	// Put writes a blob whole, with its metadata, in one atomic and durable
	// step, or not at all; the metadata that were there before are gone. A lease
	// on the blob is kept. The Info returned has name, ETag, times and size; its
	// metadata and lease may be left empty.
	Put(ctx context.Context, name string, body []byte, o *PutOptions) (*Info, error)

	// Stat is Get without the body.
	Stat(ctx context.Context, name string, c *Conditions) (*Info, error)

	// Delete removes a blob, or the whole container if name is empty. ErrNotFound
	// if there is none.
	Delete(ctx context.Context, name string, c *Conditions) error

	// List yields the blobs whose name begins with prefix, ordered by name, with
	// metadata and lease state. It stops after the first error. A blob written
	// while the listing runs may be shown or not.
	List(ctx context.Context, prefix string) iter.Seq2[*Info, error]

	// Lease does one lease operation on a blob, or on the container if name is
	// empty. It changes neither the ETag nor the last-modified time.
	Lease(ctx context.Context, name string, r *LeaseRequest) (*LeaseResult, error)

	// Close frees what the driver holds. The store must not be used after it.
	Close() error
}

// AnyETag matches every blob that exists; as IfNoneMatch of a Put it means
// "only if there is none yet".
const AnyETag = "*"

// Conditions restrict a request. The zero value, and nil, restrict nothing.
type Conditions struct {
	// LeaseID must be the active lease of the blob. Writes to a leased blob
	// need it.
	LeaseID string
	// IfMatch and IfNoneMatch compare ETags, with their quotes, or AnyETag.
	IfMatch, IfNoneMatch string
	// IfModifiedSince and IfUnmodifiedSince compare the last-modified time, to
	// the second; zero means no condition.
	IfModifiedSince, IfUnmodifiedSince time.Time
}

// PutOptions are the conditions and metadata of a Put; nil means none.
type PutOptions struct {
	Conditions
	// Metadata has lower-case ASCII names that are Go identifiers, and values
	// of any text; 8 KiB in all as sent (values are percent-encoded on the wire).
	Metadata map[string]string
	// ContentType is what a browser is told of the blob; "" means
	// application/octet-stream.
	ContentType string
}

// Info describes a blob or the container.
type Info struct {
	Name         string
	ETag         string // with quotes; never used again, not even after a delete
	Size         int64  // bytes
	ContentType  string
	Metadata     map[string]string
	Created      time.Time
	LastModified time.Time
	Lease        LeaseInfo
	Date         Date
}

// Object is a blob with its body.
type Object struct {
	Info
	Body []byte
}

// Date is the store's time when it answered. The true time of the answer lies
// in [Time, Time+Resolution]; local stores are exact (Resolution 0).
type Date struct {
	Time       time.Time
	Resolution time.Duration
}

// LeaseState is one of the five states of a lease.
type LeaseState string

const (
	LeaseAvailable LeaseState = "available"
	LeaseLeased    LeaseState = "leased"
	LeaseExpired   LeaseState = "expired"
	LeaseBreaking  LeaseState = "breaking"
	LeaseBroken    LeaseState = "broken"
)

// Locked reports whether a write needs the lease ID in this state.
func (s LeaseState) Locked() bool { return s == LeaseLeased || s == LeaseBreaking }

// Status is "locked" or "unlocked", as Azure's x-ms-lease-status.
func (s LeaseState) Status() string {
	if s.Locked() {
		return "locked"
	}
	return "unlocked"
}

// LeaseInfo is what can be seen of a lease without its ID.
type LeaseInfo struct {
	State LeaseState
	// Infinite tells an infinite lease from one with a duration; it is
	// meaningful while State is LeaseLeased.
	Infinite bool
	// Expires is when a leased or breaking lease ends, where the store tells;
	// zero if it does not (Azure) or never ends.
	Expires time.Time
	// Holder is who acquired the lease, where the store tells; nil on Azure.
	Holder *Holder
}

// Holder names the process that acquires a lease, so that a waiter on the same
// machine can tell a dead one. Local stores keep and show it; Azure cannot.
type Holder struct {
	Host    string `json:"host"`              // host name
	BootID  string `json:"boot,omitempty"`    // identifies one boot of the machine
	PIDNS   string `json:"pidns,omitempty"`   // pid namespace
	PID     int    `json:"pid"`               // process id within PIDNS
	Started string `json:"started,omitempty"` // start time of the process, as the system tells it
}

// LeaseAction is one of the five lease operations.
type LeaseAction string

const (
	LeaseAcquire LeaseAction = "acquire"
	LeaseRenew   LeaseAction = "renew"
	LeaseChange  LeaseAction = "change"
	LeaseRelease LeaseAction = "release"
	LeaseBreak   LeaseAction = "break"
)

// LeaseInfinite as LeaseRequest.Duration asks for a lease without an end.
const LeaseInfinite time.Duration = -1

// BreakNaturally as LeaseRequest.BreakPeriod lets a fixed lease run out its
// time and breaks an infinite one at once.
const BreakNaturally time.Duration = -1

// Limits of a finite lease and of a break period, both in whole seconds.
const (
	MinLease       = 15 * time.Second
	MaxLease       = 60 * time.Second
	MaxBreakPeriod = 60 * time.Second
)

// LeaseRequest is one lease operation. ErrInvalid for a duration or break period
// outside the limits or an ID that is not a GUID.
type LeaseRequest struct {
	Action LeaseAction
	// ID is the proposed lease ID of an acquire (empty: the store makes one) and
	// the current one of renew, change and release. Break needs none.
	ID string
	// NewID is the proposed ID of a change.
	NewID string
	// Duration of an acquire: MinLease to MaxLease, or LeaseInfinite.
	Duration time.Duration
	// BreakPeriod of a break: 0 (at once) to MaxBreakPeriod, or BreakNaturally.
	BreakPeriod time.Duration
	// Conditions are judged as in a write; LeaseID is not used. The container
	// takes only the two dates.
	Conditions Conditions
	// Holder of an acquire; may be nil. In a break it is who must hold the lease
	// still, where the store keeps holders: otherwise ErrLeaseHeld, so that two who
	// saw the same dead holder do not break the lease that one of them got.
	Holder *Holder
}

// LeaseResult is what a lease operation returns.
type LeaseResult struct {
	ID           string // after acquire, renew and change
	ETag         string
	LastModified time.Time
	// Remaining is how long a broken lease still locks the blob; 0 after other
	// operations.
	Remaining time.Duration
	Date      Date
}

// Sentinels. Each means that nothing was changed.
var (
	// ErrNotFound: there is no such blob.
	ErrNotFound = errors.New("blob not found")
	// ErrContainerNotFound: there is no such container.
	ErrContainerNotFound = errors.New("container not found")
	// ErrExists: IfNoneMatch AnyETag met a blob.
	ErrExists = errors.New("blob already exists")
	// ErrConditionNotMet: an ETag or date condition does not hold.
	ErrConditionNotMet = errors.New("condition not met")
	// ErrLeaseHeld: someone else has the lease.
	ErrLeaseHeld = errors.New("lease is held")
	// ErrLeaseMissing: the blob is leased and the request names no lease ID.
	ErrLeaseMissing = errors.New("blob is leased and no lease ID was given")
	// ErrLeaseMismatch: the lease ID is not that of the blob's lease.
	ErrLeaseMismatch = errors.New("lease ID does not match")
	// ErrLeaseNotPresent: a lease ID was given and the blob has no lease.
	ErrLeaseNotPresent = errors.New("no lease on the blob")
	// ErrLeaseLost: the lease of the given ID has ended.
	ErrLeaseLost = errors.New("lease has expired")
	// ErrLeaseBreaking: the lease is being or has been broken.
	ErrLeaseBreaking = errors.New("lease is breaking or broken")
	// ErrThrottled: the store asks to slow down.
	ErrThrottled = errors.New("store is throttling")
	// ErrStoreLocked: another process keeps the whole store to itself, and has for
	// longer than it should.
	ErrStoreLocked = errors.New("the store is locked")
	// ErrUnauthorized: the credentials do not allow this.
	ErrUnauthorized = errors.New("not authorized")
	// ErrTooLarge: the body or the metadata are over the store's limit.
	ErrTooLarge = errors.New("too large")
	// ErrDamaged: the body of the blob cannot be read any more as it was written.
	ErrDamaged = errors.New("stored body is damaged")
	// ErrInvalid: the request itself is wrong (a duration, an ID, a name).
	ErrInvalid = errors.New("invalid request")
)

// Error is the error of a driver: the request, Azure's code for what happened,
// and the sentinel, if the outcome is known.
type Error struct {
	Op        string // "get", "put", "stat", "delete", "list", "create", "acquire", …
	Name      string // blob; empty for the container
	Code      string // Azure's error code, such as LeaseIdMissing; may be empty
	RequestID string // Azure's request id; empty on local stores
	Detail    string // what exactly is wrong, where code and sentinel do not say it
	Sentinel  error  // one of the sentinels above; nil: the outcome is unknown
	Err       error  // the original error; may be nil
}

// Error has the operation, the name, the code and the request id.
func (e *Error) Error() string {
	var b strings.Builder
	name := "container"
	if e.Name != "" {
		name = fmt.Sprintf("%q", e.Name)
	}
	fmt.Fprintf(&b, "%s %s: ", e.Op, name)
	switch {
	case e.Sentinel != nil:
		b.WriteString(e.Sentinel.Error())
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	default:
		b.WriteString("outcome unknown")
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Code != "" {
		fmt.Fprintf(&b, " (%s", e.Code)
		if e.RequestID != "" {
			fmt.Fprintf(&b, ", request %s", e.RequestID)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// Unwrap gives the sentinel and the original error.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Sentinel, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Remedied is an error in the chain of a driver's that says itself what an operator can
// do about it.
type Remedied interface {
	error
	Remedied()
}

// IsRemedied reports whether the text of err says already what to do.
func IsRemedied(err error) bool {
	_, ok := errors.AsType[Remedied](err)
	return ok
}

// Code returns the storage error code in err's chain, or "".
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// SentinelOf maps a storage error code to its sentinel; nil for a code that says
// nothing about the outcome.
func SentinelOf(code string) error { return sentinels[code] }

var sentinels = map[string]error{
	"BlobNotFound":                          ErrNotFound,
	"ContainerNotFound":                     ErrContainerNotFound,
	"ContainerBeingDeleted":                 ErrContainerNotFound,
	"BlobAlreadyExists":                     ErrExists,
	"ConditionNotMet":                       ErrConditionNotMet,
	"TargetConditionNotMet":                 ErrConditionNotMet,
	"LeaseAlreadyPresent":                   ErrLeaseHeld,
	"LeaseIdMissing":                        ErrLeaseMissing,
	"LeaseIdMismatchWithBlobOperation":      ErrLeaseMismatch,
	"LeaseIdMismatchWithContainerOperation": ErrLeaseMismatch,
	"LeaseIdMismatchWithLeaseOperation":     ErrLeaseMismatch,
	"LeaseNotPresentWithBlobOperation":      ErrLeaseNotPresent,
	"LeaseNotPresentWithContainerOperation": ErrLeaseNotPresent,
	"LeaseNotPresentWithLeaseOperation":     ErrLeaseNotPresent,
	"LeaseLost":                             ErrLeaseLost,
	"LeaseIsBreakingAndCannotBeAcquired":    ErrLeaseBreaking,
	"LeaseIsBreakingAndCannotBeChanged":     ErrLeaseBreaking,
	"LeaseIsBrokenAndCannotBeRenewed":       ErrLeaseBreaking,
	"LeaseAlreadyBroken":                    ErrLeaseBreaking,
	"ServerBusy":                            ErrThrottled,
	"TooManyRequests":                       ErrThrottled,
	"AuthenticationFailed":                  ErrUnauthorized,
	"AuthorizationFailure":                  ErrUnauthorized,
	"AuthorizationPermissionMismatch":       ErrUnauthorized,
	"InsufficientAccountPermissions":        ErrUnauthorized,
	"NoAuthenticationInformation":           ErrUnauthorized,
	"InvalidAuthenticationInfo":             ErrUnauthorized,
	"KeyBasedAuthenticationNotPermitted":    ErrUnauthorized,
	"RequestBodyTooLarge":                   ErrTooLarge,
	"MetadataTooLarge":                      ErrTooLarge,
	"InvalidHeaderValue":                    ErrInvalid,
	"InvalidInput":                          ErrInvalid,
	"InvalidMetadata":                       ErrInvalid,
	"InvalidResourceName":                   ErrInvalid,
	"InvalidUri":                            ErrInvalid,
	"MissingRequiredHeader":                 ErrInvalid,
	"MultipleConditionHeadersNotSupported":  ErrInvalid,
	"OutOfRangeInput":                       ErrInvalid,
	"UnsatisfiableCondition":                ErrInvalid,
	"UnsupportedHeader":                     ErrInvalid,
}

// IsLocal reports whether a call of s costs microseconds, not a network round
// trip, so that waiting and polling may be quick. A driver says so by a method
// Local() bool; a decorator passes it on.
func IsLocal(s Store) bool {
	l, ok := s.(interface{ Local() bool })
	return ok && l.Local()
}

// Versioner is what a local store offers on top: a look that costs next to
// nothing.
type Versioner interface {
	// Version returns a number that is another one after any Put, Delete or Lease
	// of a blob by anyone, in this process or in others. It may change for other
	// reasons, too. That the time of a lease has passed does not change it. After an
	// error, such as errors.ErrUnsupported of a decorator over a store without
	// versions, anything may have been written.
	Version(ctx context.Context) (uint64, error)
}
