package sqlitestore

import (
	"context"
	"errors"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// errInfinite takes back an operation on an infinite lease that was begun at the
// level of finite ones.
var errInfinite = errors.New("infinite lease")

// Lease implements [store.Store].
func (s *Store) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	request, err := rules.NormalizeLease(name, r)
	if err != nil {
		return nil, fail(string(r.Action), name, err)
	}
	result, err := s.operate(ctx, normal, name, request)
	if errors.Is(err, errInfinite) {
		result, err = s.operate(ctx, full, name, request)
	}
	if err != nil {
		return nil, fail(string(r.Action), name, err)
	}
	return result, nil
}

func (s *Store) operate(ctx context.Context, l level, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	var result *store.LeaseResult
	err := s.write(ctx, l, 0, func(c *conn, now time.Time) error {
		found, err := find(c, name)
		if err == nil && found != nil {
			err = found.decodeHolder()
		}
		if err != nil {
			return err
		}
		lease, done, err := found.blob().Operate(name, r, now)
		if err != nil {
			return err
		}
		if l != full && (lease.Infinite() || found.Lease.Infinite()) {
			return errInfinite
		}
		result = done
		return setLease(c, found.id, lease)
	})
	return result, err
}

func setLease(c *conn, id int64, l rules.Lease) error {
	v, err := leaseValues(l)
	if err != nil {
		return err
	}
	return c.exec("UPDATE blob SET ("+leaseColumns+") = (?, ?, ?, ?, ?) WHERE id = ?", append(v, id)...)
}
