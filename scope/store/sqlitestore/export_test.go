package sqlitestore

import (
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
	err := s.writer.with(t.Context(), func(c *conn) error {
		return c.row("SELECT synchronous FROM pragma_synchronous", nil, &n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"OFF", "NORMAL", "FULL", "EXTRA"}[n]
}
