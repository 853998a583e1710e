package memstore

import (
	"context"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

var _ store.Versioner = (*Store)(nil)

// Version implements [store.Versioner].
func (s *Store) Version(ctx context.Context) (version uint64, err error) {
	err = s.locked(ctx, func(time.Time) error {
		version = s.version
		return nil
	})
	return version, err
}
