package rules

import (
	"maps"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// DefaultContentType is that of a blob for which none was given.
const DefaultContentType = "application/octet-stream"

// Blob is what a store keeps of a blob, or of the container, beside the body.
// A nil *Blob is one that does not exist.
type Blob struct {
	ETag        string
	Size        int64
	ContentType string
	Metadata    map[string]string
	Created     time.Time
	Modified    time.Time
	Lease       Lease
}

// Info is what can be seen of b at the time now. It shares no memory with b.
func (b *Blob) Info(name string, now time.Time) store.Info {
	return store.Info{
		Name:         name,
		ETag:         b.ETag,
		Size:         b.Size,
		ContentType:  b.ContentType,
		Metadata:     maps.Clone(b.Metadata),
		Created:      b.Created.UTC(),
		LastModified: b.Modified.UTC(),
		Lease:        b.Lease.Info(now),
		Date:         Date(now),
	}
}

// Date is the answer's time of a store whose clock is this machine's.
func Date(now time.Time) store.Date { return store.Date{Time: now.UTC()} }

// Read decides a Get or a Stat of b, which name stands for.
func (b *Blob) Read(name string, c *store.Conditions, now time.Time) error {
	if b == nil {
		return missing(name)
	}
	if err := b.Lease.CheckRead(KindOf(name), c.LeaseID, now); err != nil {
		return err
	}
	return met(c, b.ETag, b.Modified, ForRead)
}

// Put decides a Put over b, with normalized options, and returns what is kept
// from then on; the caller gives it its ETag.
func (b *Blob) Put(size int64, o *store.PutOptions, now time.Time) (*Blob, error) {
	written := &Blob{
		Size:        size,
		ContentType: o.ContentType,
		Metadata:    o.Metadata,
		Created:     now,
		Modified:    now,
	}
	if b == nil {
		return written, create(&o.Conditions)
	}
	lease, err := b.Lease.CheckWrite(OnBlob, o.LeaseID, now)
	if err != nil {
		return nil, err
	}
	written.Lease, written.Created = lease, b.Created
	return written, met(&o.Conditions, b.ETag, b.Modified, ForCreate)
}

// create judges the conditions of a Put that finds no blob.
func create(c *store.Conditions) error {
	switch {
	case c.LeaseID != "":
		return Refuse("LeaseNotPresentWithBlobOperation", "there is no such blob")
	case c.IfMatch != "":
		return Refuse("ConditionNotMet", "there is no such blob")
	}
	return nil
}

// Delete decides a Delete of b, which name stands for.
func (b *Blob) Delete(name string, c *store.Conditions, now time.Time) error {
	if b == nil {
		return missing(name)
	}
	if _, err := b.Lease.CheckWrite(KindOf(name), c.LeaseID, now); err != nil {
		return err
	}
	return met(c, b.ETag, b.Modified, ForWrite)
}

// Operate decides a lease operation on b, which name stands for, and returns the
// lease that b has from then on. The request must be normalized.
func (b *Blob) Operate(name string, r *store.LeaseRequest, now time.Time) (Lease, *store.LeaseResult, error) {
	if b == nil {
		return Lease{}, nil, missing(name)
	}
	if err := met(&r.Conditions, b.ETag, b.Modified, ForWrite); err != nil {
		return Lease{}, nil, err
	}
	lease, err := b.Lease.Operate(r, now)
	if err != nil {
		return Lease{}, nil, err
	}
	return lease, b.result(lease, r.Action, now), nil
}

func (b *Blob) result(l Lease, action store.LeaseAction, now time.Time) *store.LeaseResult {
	result := &store.LeaseResult{ETag: b.ETag, LastModified: b.Modified.UTC(), Date: Date(now)}
	if action == store.LeaseBreak {
		result.Remaining = max(0, l.Breaks.Sub(now))
	} else {
		result.ID = l.ID
	}
	return result
}

func missing(name string) error {
	return Refuse(string(KindOf(name))+"NotFound", "")
}
