package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Act is one call of a client in a history, and what it was answered.
type Act struct {
	Client   int
	Op       string // "get", "put", "delete", "acquire", "renew", "release" or "break"
	Blob     string
	LeaseID  string        `json:",omitempty"`
	IfMatch  string        `json:",omitempty"` // ETag; store.AnyETag of a put: only if there is none
	Version  int           `json:",omitempty"` // of the content that is put, or that a get showed; every put has another one
	Duration time.Duration `json:",omitempty"` // of an acquire; of a break its period

	Call, Return int64 // when it began and ended, in nanoseconds; no two times are equal
	At           int64 // when the store got it, by which leases end; 0 where time is real and none does

	Outcome Outcome
	ETag    string           `json:",omitempty"` // that was answered
	State   store.LeaseState `json:",omitempty"` // of the lease, that a get showed
}

// Outcome is what a client knows of its call.
type Outcome string

const (
	Done    Outcome = "done"    // carried out
	Refused Outcome = "refused" // nothing was changed
	Unknown Outcome = "unknown" // one of the two
)

// String tells an act in a line.
func (a *Act) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client %d: %s %s", a.Client, a.Op, a.Blob)
	if a.Op == "put" {
		fmt.Fprintf(&b, " v%d", a.Version)
	}
	if a.IfMatch != "" {
		fmt.Fprintf(&b, " if %s", a.IfMatch)
	}
	if a.LeaseID != "" {
		fmt.Fprintf(&b, " with lease ...%s", a.LeaseID[len(a.LeaseID)-2:])
	}
	if a.Duration != 0 {
		fmt.Fprintf(&b, " for %v", a.Duration)
	}
	fmt.Fprintf(&b, " -> %s", a.Outcome)
	if a.Op == "get" && a.Outcome == Done {
		fmt.Fprintf(&b, " v%d %s", a.Version, a.State)
	}
	if a.ETag != "" {
		fmt.Fprintf(&b, " %s", a.ETag)
	}
	return b.String()
}

// History is what clients did to a few blobs of their own, in any order.
type History []Act

// versions maps the ETags that were answered to the versions of the content that
// they stand for. Two for one version, or one for two, is an error.
func (h History) versions() (map[string]int, error) {
	versions, etags := map[string]int{}, map[int]string{}
	for _, a := range h {
		if a.ETag == "" || a.Version == 0 {
			continue
		}
		v, seen := versions[a.ETag]
		if etag := etags[a.Version]; seen && v != a.Version || etag != "" && etag != a.ETag {
			return nil, fmt.Errorf("version %d has the ETags %s and %s, or %s has the versions %d and %d",
				a.Version, etag, a.ETag, a.ETag, v, a.Version)
		}
		versions[a.ETag], etags[a.Version] = a.Version, a.ETag
	}
	return versions, nil
}

// took is how long the history lasted.
func (h History) took() time.Duration {
	var first, last int64
	for i, a := range h {
		if i == 0 || a.Call < first {
			first = a.Call
		}
		last = max(last, a.Return)
	}
	return time.Duration(last - first)
}
