package sqlitestore

import (
	"context"
	"errors"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context) error {
	err := s.write(ctx, full, 0, func(c *conn, now time.Time) error {
		found, err := find(c, "")
		if found != nil || err != nil && !errors.Is(err, store.ErrContainerNotFound) {
			return err
		}
		container := &rules.Blob{Created: now, Modified: now}
		if _, err := stamp(c, container, 0); err != nil {
			return err
		}
		_, err = insert(c, "", container)
		return err
	})
	return fail("create", "", err)
}

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	o, err := rules.NormalizePut(name, int64(len(body)), o, s.maxBody)
	if err != nil {
		return nil, fail("put", name, err)
	}
	var info *store.Info
	err = s.packer.with(body, func(stored content) (err error) {
		info, err = s.put(ctx, name, int64(len(body)), &draft{whole: stored}, o)
		return err
	})
	if err != nil {
		return nil, fail("put", name, err)
	}
	return info, nil
}

func (s *Store) put(ctx context.Context, name string, size int64, d *draft, o *store.PutOptions) (*store.Info, error) {
	var info store.Info
	return &info, s.write(ctx, full, d.bytes(), func(c *conn, now time.Time) error {
		found, err := findTarget(c, name)
		if err != nil {
			return err
		}
		written, err := found.blob().Put(size, o, now)
		if err != nil {
			return err
		}
		if found == nil {
			err = insertBody(c, name, written, d)
		} else {
			err = update(c, found, written, d)
		}
		info = written.Info(name, now)
		return err
	})
}

// What follows runs statements one by one until one fails: after one that has undone the
// whole transaction, the next would be a transaction of its own.

// insertBody adds a blob with its body.
func insertBody(c *conn, name string, b *rules.Blob, d *draft) error {
	last, err := stamp(c, b, d.plan(nil))
	if err != nil {
		return err
	}
	id, err := insert(c, name, b)
	if err != nil {
		return err
	}
	stored := d.content(last)
	if err := c.exec("INSERT INTO stored (id, content, codec) VALUES (?, ?, ?)", id, stored.data, stored.codec); err != nil {
		return err
	}
	return d.insertPieces(c, id)
}

// insert adds the record of a blob, or of the container.
func insert(c *conn, name string, b *rules.Blob) (id int64, err error) {
	v, err := ownValues(b)
	if err != nil {
		return 0, err
	}
	lease, err := leaseValues(b.Lease)
	if err != nil {
		return 0, err
	}
	v = append(v, lease...)
	err = c.row("INSERT INTO blob (name, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
		append([]any{name}, v...), &id)
	return id, err
}

// update overwrites a blob.
func update(c *conn, found *target, b *rules.Blob, d *draft) error {
	last, err := stamp(c, b, d.plan(found.pieces))
	if err != nil {
		return err
	}
	v, err := ownValues(b)
	if err != nil {
		return err
	}
	if err := found.dropPieces(c, d.kept); err != nil {
		return err
	}
	err = c.exec("UPDATE blob SET ("+ownColumns+") = (?, ?, ?, ?, ?, ?) WHERE id = ?", append(v, found.id)...)
	if err != nil {
		return err
	}
	if b.Lease != found.Lease { // a write keeps the lease, or ends it
		if err := setLease(c, found.id, b.Lease); err != nil {
			return err
		}
	}
	stored := d.content(last)
	if err := c.exec("UPDATE stored SET (content, codec) = (?, ?) WHERE id = ?", stored.data, stored.codec, found.id); err != nil {
		return err
	}
	return d.insertPieces(c, found.id)
}

// stamp gives b the next ETag, and out the last of so many new keys of pieces. No key
// is given out twice in a file.
func stamp(c *conn, b *rules.Blob, keys int) (last int64, err error) {
	var n int64
	err = c.row("UPDATE counter SET etags = etags + 1, pieces = pieces + ? RETURNING etags, pieces", []any{keys}, &n, &last)
	b.ETag = rules.ETag(uint64(n))
	return last, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, name string, c *store.Conditions) error {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForWrite)
	if err == nil {
		err = rules.CheckTarget(name)
	}
	if err != nil {
		return fail("delete", name, err)
	}
	err = s.write(ctx, full, 0, func(c *conn, now time.Time) error {
		found, err := findTarget(c, name)
		if err != nil {
			return err
		}
		if err := found.blob().Delete(name, &conditions, now); err != nil {
			return err
		}
		if name == "" {
			return removeAll(c)
		}
		return found.remove(c)
	})
	return fail("delete", name, err)
}

// removeAll deletes the container with all blobs.
func removeAll(c *conn) error {
	return c.execAll(nil, "DELETE FROM piece", "DELETE FROM stored", "DELETE FROM blob")
}

// remove deletes a blob.
func (t *target) remove(c *conn) error {
	if err := t.dropPieces(c, nil); err != nil {
		return err
	}
	return c.execAll([]any{t.id}, "DELETE FROM stored WHERE id = ?", "DELETE FROM blob WHERE id = ?")
}
