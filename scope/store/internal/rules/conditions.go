package rules

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Use is what a request with conditions does; reads and writes combine and
// answer them differently.
type Use int

const (
	ForRead Use = iota
	ForWrite
	ForCreate // a write that may create: a Put
)

// NormalizeConditions checks the form of c, which may be nil, on what name stands
// for, and returns a copy with a canonical lease ID.
func NormalizeConditions(name string, c *store.Conditions, use Use) (store.Conditions, error) {
	if c == nil {
		return store.Conditions{}, nil
	}
	n := *c
	err := firstOf(canonical(&n.LeaseID), checkConditions(name, &n, use))
	return n, err
}

func checkConditions(name string, c *store.Conditions, use Use) error {
	switch {
	case name == "" && (c.IfMatch != "" || c.IfNoneMatch != ""):
		return Refuse("UnsupportedHeader", "a container has no conditions on its ETag")
	case c.IfNoneMatch == store.AnyETag && use != ForCreate:
		return Refuse("UnsatisfiableCondition", "IfNoneMatch %s is for a Put only", store.AnyETag)
	case use != ForRead && !combine(c):
		return Refuse("MultipleConditionHeadersNotSupported",
			"a write takes one condition, or IfMatch with IfUnmodifiedSince, or IfNoneMatch with IfModifiedSince")
	}
	return nil
}

// combine tells whether the conditions may stand together on a write.
func combine(c *store.Conditions) bool {
	changed := c.IfNoneMatch != "" || !c.IfModifiedSince.IsZero()
	unchanged := c.IfMatch != "" || !c.IfUnmodifiedSince.IsZero()
	return !changed || !unchanged
}

// met judges the conditions of a request on something that exists.
func met(c *store.Conditions, etag string, modified time.Time, use Use) error {
	if c.IfNoneMatch == store.AnyETag {
		return Refuse("BlobAlreadyExists", "")
	}
	unchanged, changed := metWrite(c, etag, modified)
	if use == ForRead {
		unchanged, changed = metRead(c, etag, modified)
	}
	if !unchanged || !changed {
		return Refuse("ConditionNotMet", "")
	}
	return nil
}

// metRead demands both ways of being unchanged and one way of being changed.
func metRead(c *store.Conditions, etag string, modified time.Time) (unchanged, changed bool) {
	unchanged = ifMatch(c, etag) && ifUnmodified(c, modified)
	switch {
	case c.IfNoneMatch == "":
		changed = ifModified(c, modified)
	case c.IfModifiedSince.IsZero():
		changed = c.IfNoneMatch != etag
	default:
		changed = c.IfNoneMatch != etag || ifModified(c, modified)
	}
	return unchanged, changed
}

// metWrite lets an ETag overrule the date it stands with.
func metWrite(c *store.Conditions, etag string, modified time.Time) (unchanged, changed bool) {
	unchanged, changed = ifMatch(c, etag), c.IfNoneMatch != etag
	if c.IfMatch == "" {
		unchanged = ifUnmodified(c, modified)
	}
	if c.IfNoneMatch == "" {
		changed = ifModified(c, modified)
	}
	return unchanged, changed
}

func ifMatch(c *store.Conditions, etag string) bool {
	return c.IfMatch == "" || c.IfMatch == store.AnyETag || c.IfMatch == etag
}

func ifModified(c *store.Conditions, modified time.Time) bool {
	return c.IfModifiedSince.IsZero() || seconds(modified).After(seconds(c.IfModifiedSince))
}

func ifUnmodified(c *store.Conditions, modified time.Time) bool {
	return c.IfUnmodifiedSince.IsZero() || !seconds(modified).After(seconds(c.IfUnmodifiedSince))
}

// seconds is a time as HTTP would carry it.
func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }
