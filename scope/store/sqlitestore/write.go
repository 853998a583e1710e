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
		return insert(c, "", &rules.Blob{Created: now, Modified: now}, content{})
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
		info, err = s.put(ctx, name, body, stored, o)
		return err
	})
	if err != nil {
		return nil, fail("put", name, err)
	}
	return info, nil
}

func (s *Store) put(ctx context.Context, name string, body []byte, stored content, o *store.PutOptions) (*store.Info, error) {
	var info store.Info
	return &info, s.write(ctx, full, len(stored.data), func(c *conn, now time.Time) error {
		found, err := find(c, name)
		if err != nil {
			return err
		}
		written, err := found.blob().Put(int64(len(body)), o, now)
		if err != nil {
			return err
		}
		if found == nil {
			err = insert(c, name, written, stored)
		} else {
			err = update(c, found.id, written, stored)
		}
		info = written.Info(name, now)
		return err
	})
}

// insert adds a blob, or the container, and gives it its ETag.
func insert(c *conn, name string, b *rules.Blob, stored content) error {
	var id int64
	v, err := stamped(c, b)
	if err != nil {
		return err
	}
	err = c.row("INSERT INTO blob (name, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
		append([]any{name}, v...), &id)
	if err != nil || name == "" {
		return err
	}
	return c.exec("INSERT INTO stored (id, content, codec) VALUES (?, ?, ?)", id, stored.data, stored.codec)
}

// update overwrites a blob and gives it its ETag.
func update(c *conn, id int64, b *rules.Blob, stored content) error {
	v, err := stamped(c, b)
	if err != nil {
		return err
	}
	return errors.Join(
		c.exec("UPDATE blob SET ("+columns+") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?", append(v, id)...),
		c.exec("UPDATE stored SET (content, codec) = (?, ?) WHERE id = ?", stored.data, stored.codec, id),
	)
}

// stamped gives b the next ETag and returns the values of its columns.
func stamped(c *conn, b *rules.Blob) ([]any, error) {
	var n int64
	if err := c.row("UPDATE counter SET etags = etags + 1 RETURNING etags", nil, &n); err != nil {
		return nil, err
	}
	b.ETag = rules.ETag(uint64(n))
	return values(b)
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
		found, err := find(c, name)
		if err != nil {
			return err
		}
		if err := found.blob().Delete(name, &conditions, now); err != nil {
			return err
		}
		return remove(c, name, found.id)
	})
	return fail("delete", name, err)
}

// remove deletes a blob, or everything with the container.
func remove(c *conn, name string, id int64) error {
	if name == "" {
		return errors.Join(c.exec("DELETE FROM stored"), c.exec("DELETE FROM blob"))
	}
	return errors.Join(
		c.exec("DELETE FROM stored WHERE id = ?", id),
		c.exec("DELETE FROM blob WHERE id = ?", id),
	)
}
