package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	object, err := s.get(ctx, name, c)
	if err != nil {
		return nil, fail("get", name, err)
	}
	return object, nil
}

func (s *Store) get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err != nil {
		return nil, err
	}
	if err := rules.CheckName(name); err != nil {
		return nil, err
	}
	var object store.Object
	var stored content
	err = s.read(ctx, func(c *conn) error {
		found, kept, err := findContent(c, name, knownETag(&conditions))
		if err != nil {
			return err
		}
		stored = kept
		now := time.Now()
		if found != nil {
			object.Info = found.Info(name, now)
		}
		return found.blob().Read(name, &conditions, now)
	})
	if err != nil {
		return nil, err
	}
	object.Body, err = stored.unpack(object.Size)
	return &object, err
}

// knownETag is the ETag with which nothing is to be read; "" if there is none,
// since a date may demand the body whatever the ETag.
func knownETag(c *store.Conditions) string {
	if !c.IfModifiedSince.IsZero() {
		return ""
	}
	return c.IfNoneMatch
}

// findContent is find with the content, which is left out if the ETag is known: who
// polls for a change reads no more than the record.
func findContent(c *conn, name, known string) (*record, content, error) {
	var r record
	var stored content
	err := scanRecord(&r, func(dest ...any) error {
		return c.row("SELECT iif(etag = ?, NULL, content), codec, "+columns+
			" FROM blob JOIN stored USING (id) WHERE name = ?", []any{known, name}, append([]any{&stored.data, &stored.codec}, dest...)...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, stored, checkContainer(c)
	}
	return &r, stored, err
}

// Stat implements [store.Store].
func (s *Store) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	info, err := s.stat(ctx, name, c)
	if err != nil {
		return nil, fail("stat", name, err)
	}
	return info, nil
}

func (s *Store) stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err != nil {
		return nil, err
	}
	if err := rules.CheckTarget(name); err != nil {
		return nil, err
	}
	var info store.Info
	return &info, s.read(ctx, func(c *conn) error {
		found, err := find(c, name)
		if err != nil {
			return err
		}
		now := time.Now()
		if found != nil {
			info = found.Info(name, now)
		}
		return found.blob().Read(name, &conditions, now)
	})
}

// listPage is how many blobs a listing reads at a time, so that it holds neither
// a connection nor the log while its caller works.
const listPage = 500

// List implements [store.Store].
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		for after := ""; ; {
			page, err := s.page(ctx, prefix, after)
			if err != nil {
				yield(nil, fail("list", prefix, err))
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
			if len(page) < listPage {
				return
			}
			after = page[len(page)-1].Name
		}
	}
}

// page reads the blobs that follow after, the empty name of the container not
// among them.
func (s *Store) page(ctx context.Context, prefix, after string) (page []store.Info, err error) {
	err = s.read(ctx, func(c *conn) error {
		if err := checkContainer(c); err != nil {
			return err
		}
		now := time.Now()
		page = page[:0]
		query := "SELECT name, " + columns + " FROM blob WHERE name > ? AND name >= ? ORDER BY name LIMIT ?"
		return c.rows(query, []any{after, prefix, listPage}, func(scan func(...any) error) (bool, error) {
			var r record
			var name string
			err := scanRecord(&r, func(dest ...any) error { return scan(append([]any{&name}, dest...)...) })
			if err != nil || !strings.HasPrefix(name, prefix) {
				return false, err
			}
			page = append(page, r.Info(name, now))
			return true, nil
		})
	})
	return page, err
}
