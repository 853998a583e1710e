package rules

import (
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store"
)

// CheckTarget checks what a request other than a Get or a Put is for: the container,
// if name is empty, or a blob.
func CheckTarget(name string) error {
	if name == "" {
		return nil
	}
	return CheckName(name)
}

// NormalizePut checks the form of a Put of so many bytes, whose options may be nil, and returns
// them with a canonical lease ID, the content type filled in, and metadata of
// its own.
func NormalizePut(name string, size int64, o *store.PutOptions, maxBody int64) (*store.PutOptions, error) {
	if o == nil {
		o = &store.PutOptions{}
	}
	n := *o
	n.Metadata = presentValues(o.Metadata)
	if n.ContentType == "" {
		n.ContentType = DefaultContentType
	}
	var err error
	if n.Conditions, err = NormalizeConditions(name, &o.Conditions, ForCreate); err != nil {
		return nil, err
	}
	return &n, firstOf(
		CheckName(name),
		checkContentType(n.ContentType),
		CheckMetadata(n.Metadata),
		checkBody(size, maxBody),
	)
}

// presentValues copies metadata without the empty values: a header cannot carry
// one, and to a reader of the map it is the same as none.
func presentValues(m map[string]string) map[string]string {
	c := maps.Clone(m)
	maps.DeleteFunc(c, func(_, value string) bool { return value == "" })
	return c
}

// NormalizeLease checks the form of a lease request and returns a copy with
// canonical IDs; an acquire without an ID gets a fresh one.
func NormalizeLease(name string, r *store.LeaseRequest) (*store.LeaseRequest, error) {
	n := *r
	n.Conditions.LeaseID = ""
	if r.Holder != nil {
		n.Holder = new(*r.Holder)
	}
	if n.Action == store.LeaseAcquire && n.ID == "" {
		n.ID = uuid.NewString()
	}
	return &n, firstOf(
		CheckTarget(name),
		checkConditions(name, &n.Conditions, ForWrite),
		checkAction(&n),
		canonical(&n.ID),
		canonical(&n.NewID),
	)
}

func checkAction(r *store.LeaseRequest) error {
	switch r.Action {
	case store.LeaseAcquire:
		return checkDuration(r.Duration)
	case store.LeaseRenew, store.LeaseRelease:
		return needID(r.ID)
	case store.LeaseChange:
		return firstOf(needID(r.ID), needID(r.NewID))
	case store.LeaseBreak:
		return checkPeriod(r.BreakPeriod)
	}
	return Refuse("InvalidHeaderValue", "%q is no lease action", r.Action)
}

func checkDuration(d time.Duration) error {
	if d == store.LeaseInfinite || d >= store.MinLease && d <= store.MaxLease && wholeSeconds(d) {
		return nil
	}
	return Refuse("InvalidHeaderValue", "a lease lasts for ever or whole seconds from %v to %v, not %v",
		store.MinLease, store.MaxLease, d)
}

func checkPeriod(d time.Duration) error {
	if d == store.BreakNaturally || d >= 0 && d <= store.MaxBreakPeriod && wholeSeconds(d) {
		return nil
	}
	return Refuse("InvalidHeaderValue", "a break takes whole seconds from 0s to %v, not %v", store.MaxBreakPeriod, d)
}

func wholeSeconds(d time.Duration) bool { return d%time.Second == 0 }

func needID(id string) error {
	if id == "" {
		return Refuse("MissingRequiredHeader", "the lease ID is missing")
	}
	return nil
}

// canonical rewrites a lease ID that is not empty.
func canonical(id *string) error {
	if *id == "" {
		return nil
	}
	c, ok := ParseID(*id)
	if !ok {
		return Refuse("InvalidHeaderValue", "lease ID %q is not a GUID", *id)
	}
	*id = c
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
