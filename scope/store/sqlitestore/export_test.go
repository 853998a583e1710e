package sqlitestore

import (
	"context"
	"testing"
	"time"
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
