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
	var joined []byte
	info, stored, err := s.get(ctx, name, c, func(c *conn, m manifest, size int64) (err error) {
		joined, err = m.join(c, size)
		return err
	})
	if err == nil && stored.codec != listed {
		joined, err = stored.unpack(info.Size)
	}
	if err != nil {
		return nil, fail("get", name, err)
	}
	return &store.Object{Info: *info, Body: joined}, nil
}

// GetPieces implements [store.Piecewise].
func (s *Store) GetPieces(ctx context.Context, name string, had *store.Body, c *store.Conditions) (*store.Info, *store.Body, error) {
	var body *store.Body
	info, stored, err := s.get(ctx, name, c, func(c *conn, m manifest, _ int64) (err error) {
		body, err = s.readPieces(c, m, had)
		return err
	})
	if err == nil && stored.codec != listed {
		body, err = s.packer.whole(stored, info.Size)
	}
	if err != nil {
		return nil, nil, fail("get", name, err)
	}
	return info, body, nil
}

// get reads the record of a blob and its content. That of a body in pieces is handed to
// assemble, which reads the pieces; it may be called again.
func (s *Store) get(ctx context.Context, name string, c *store.Conditions, assemble assembler) (*store.Info, content, error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err != nil {
		return nil, content{}, err
	}
	if err := rules.CheckName(name); err != nil {
		return nil, content{}, err
	}
	var info store.Info
	var stored content
	err = s.read(ctx, func(c *conn) error {
		once := func() (err error) {
			info, stored, err = getOnce(c, name, &conditions, assemble)
			return err
		}
		err := once()
		if errors.Is(err, errNoPiece) { // it was another body when its pieces were read, or it is damaged
			err = c.snapshot(once)
		}
		return err
	})
	return &info, stored, err
}

// assembler makes a body of this size of its pieces.
type assembler func(c *conn, m manifest, size int64) error

// getOnce reads the row and then, if need be, its pieces. They need not be of the same
// moment: a piece is never changed, and no key is used again, so that either all are
// those of the row or one is missing.
func getOnce(c *conn, name string, conditions *store.Conditions, assemble assembler) (info store.Info, stored content, err error) {
	found, stored, err := findContent(c, name, knownETag(conditions))
	if err != nil {
		return info, stored, err
	}
	now := time.Now()
	if found != nil {
		if info, err = found.info(name, now); err != nil {
			return info, stored, err
		}
	}
	if err := found.blob().Read(name, conditions, now); err != nil || stored.codec != listed {
		return info, stored, err
	}
	m, err := parseManifest(stored.data, info.Size)
	if err != nil {
		return info, stored, stored.damaged(info.Size, err)
	}
	return info, stored, assemble(c, m, info.Size)
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
			if info, err = found.info(name, now); err != nil {
				return err
			}
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
			info, err := r.info(name, now)
			page = append(page, info)
			return true, err
		})
	})
	return page, err
}
