package sqlitestore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// columns of a record, in the order of scanRecord and values.
const (
	columns      = ownColumns + ", " + leaseColumns
	ownColumns   = "etag, size, content_type, metadata, created, modified"
	leaseColumns = "lease_id, lease_duration, lease_ends, lease_breaks, lease_holder"
)

// record is a row of the table blob.
type record struct {
	rules.Blob
	id int64

	// In JSON. To decode them takes longer than to read the row, and those who write
	// need neither of them.
	metadata, holder []byte
}

// blob is what the rules judge; nil if there is none.
func (r *record) blob() *rules.Blob {
	if r == nil {
		return nil
	}
	return &r.Blob
}

// find returns the record of a name, nil if there is no such blob. That the
// container is missing is an error.
func find(c *conn, name string) (*record, error) {
	var r record
	err := scanRecord(&r, func(dest ...any) error {
		return c.row("SELECT id, "+columns+" FROM blob WHERE name = ?", []any{name}, append([]any{&r.id}, dest...)...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, checkContainer(c)
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// checkContainer looks for the record without a name. Where a blob was found
// there is no need to: blobs live and die with their container.
func checkContainer(c *conn) error {
	var one int
	err := c.row("SELECT 1 FROM blob WHERE name = ''", nil, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return rules.Refuse("ContainerNotFound", "")
	}
	return err
}

// scanRecord fills r by scan, which gets the destinations of the columns.
func scanRecord(r *record, scan func(dest ...any) error) error {
	var created, modified, ends, breaks int64
	err := scan(&r.ETag, &r.Size, &r.ContentType, &r.metadata, &created, &modified,
		&r.Lease.ID, &r.Lease.Duration, &ends, &breaks, &r.holder)
	if err != nil {
		return err
	}
	r.Created, r.Modified = fromNanos(created), fromNanos(modified)
	r.Lease.Ends, r.Lease.Breaks = fromNanos(ends), fromNanos(breaks)
	return nil
}

// decodeHolder makes the holder known to the rules, and to who is told of the lease.
func (r *record) decodeHolder() error {
	if len(r.holder) == 0 {
		return nil
	}
	r.Lease.Holder = new(store.Holder)
	return json.Unmarshal(r.holder, r.Lease.Holder)
}

// info is what the store tells of the blob.
func (r *record) info(name string, now time.Time) (store.Info, error) {
	err := errors.Join(r.decodeHolder(), json.Unmarshal(r.metadata, &r.Metadata))
	return r.Info(name, now), err
}

// leaseValues are the values of the columns of a lease.
func leaseValues(l rules.Lease) ([]any, error) {
	var holder []byte
	var err error
	if l.Holder != nil {
		holder, err = json.Marshal(l.Holder)
	}
	return []any{l.ID, int64(l.Duration), nanos(l.Ends), nanos(l.Breaks), string(holder)}, err
}

// ownValues are the values of the columns that are not about the lease.
func ownValues(b *rules.Blob) ([]any, error) {
	metadata, err := json.Marshal(b.Metadata)
	return []any{b.ETag, b.Size, b.ContentType, string(metadata), nanos(b.Created), nanos(b.Modified)}, err
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
