package sqlitestore

import (
	"context"

	"github.com/leasestream/leasestream/scope/store"
)

var _ store.Versioner = (*Store)(nil)

// Version implements [store.Versioner].
func (s *Store) Version(ctx context.Context) (uint64, error) {
	var version uint64
	err := s.watcher.with(ctx, func(c *conn) error {
		return s.outlast(ctx, func() error { return c.row("PRAGMA data_version", nil, &version) })
	})
	return version, err
}
