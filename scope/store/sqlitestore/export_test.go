package sqlitestore

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// OpenWithin is Open with another patience for locks: each second of it is a
// thousand looks.
func OpenWithin(patience time.Duration, path string) (*Store, error) {
	return openWithin(patience, path, nil)
}

// Synchronous asks SQLite for the level of the last commit of s.
func Synchronous(t *testing.T, s *Store) string {
	t.Helper()
	var n int
	err := s.line.pool.with(t.Context(), func(c *conn) error {
		return c.row("SELECT synchronous FROM pragma_synchronous", nil, &n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"OFF", "NORMAL", "FULL", "EXTRA"}[n]
}

// Write runs f in line as a write of s, with the writes of others before and after
// it.
func Write(ctx context.Context, s *Store, f func()) error {
	return s.write(ctx, full, 0, func(*conn, time.Time) error {
		f()
		return nil
	})
}

// ExecOnWriter runs a statement on the connection that writes.
func ExecOnWriter(t *testing.T, s *Store, statement string) {
	t.Helper()
	err := s.line.pool.with(t.Context(), func(c *conn) error { return c.execOnce(statement) })
	if err != nil {
		t.Fatal(err)
	}
}

// KeepInPieces has s keep bodies in pieces from so many bytes on.
func KeepInPieces(s *Store, bytes int) { s.inPieces = bytes }

// GetWhile is GetPieces that calls f each time between the list and its pieces.
func GetWhile(ctx context.Context, s *Store, name string, f func()) (body *store.Body, err error) {
	_, _, err = s.get(ctx, name, nil, func(c *conn, m manifest, _ int64) (err error) {
		f()
		body, err = s.readPieces(c, m, nil)
		return err
	})
	return body, err
}

// CheckPieces checks that each blob has the pieces that it names, and that there are no
// others in the file.
func CheckPieces(t *testing.T, s *Store) {
	t.Helper()
	owners, named := map[int64]int64{}, 0
	err := s.readers.with(t.Context(), func(c *conn) error {
		return c.snapshot(func() error {
			err := c.rows("SELECT key, blob FROM piece", nil, func(scan func(...any) error) (bool, error) {
				var key, blob int64
				err := scan(&key, &blob)
				owners[key] = blob
				return true, err
			})
			if err != nil {
				return err
			}
			query := "SELECT id, size, content FROM stored LEFT JOIN blob USING (id) WHERE codec = ?"
			return c.rows(query, []any{listed}, func(scan func(...any) error) (bool, error) {
				var id, size int64
				var list []byte
				if err := scan(&id, &size, &list); err != nil {
					return false, err
				}
				m, err := parseManifest(list, size)
				for _, e := range m {
					if e.key == 0 {
						continue
					}
					if named++; owners[e.key] != id {
						t.Errorf("blob %d names piece %d, which is of blob %d", id, e.key, owners[e.key])
					}
				}
				return true, err
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if named != len(owners) {
		t.Errorf("%d pieces are stored and %d are named", len(owners), named)
	}
}

// Entries parses a manifest, whose CRC is added, and tells how many pieces it has and
// whether it comes out the same from what it is parsed to.
func Entries(data []byte, size int64) (n int, same bool, err error) {
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
	m, err := parseManifest(data, size)
	if err != nil {
		return 0, false, err
	}
	again, err := parseManifest(m.appendTo(nil), size)
	return len(m), slices.Equal(m, again), err
}
