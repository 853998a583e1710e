package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// specimen is the blob that rights are proven on.
type specimen struct {
	*examination
	name  string
	lease string // its ID; "" if there is none
}

// rights proves each right that a worker needs. The blob is removed whatever
// happens.
func (e *examination) rights(ctx context.Context) {
	s := &specimen{examination: e, name: newName()}
	_, err := e.Store.Put(ctx, s.name, []byte("leasestream doctor"), &store.PutOptions{
		Conditions: store.Conditions{IfNoneMatch: store.AnyETag},
	})
	if !refused(err) {
		defer s.remove(ctx) // it is there, or may be
	}
	if err != nil {
		e.failed(ctx, "write", err, "allow writing: read, lease and delete cannot be tried without it")
		return
	}
	e.ok("write", "a blob was written")
	s.read(ctx)
	s.leased(ctx)
	s.latency(ctx)
}

// refused tells that an error means that nothing was changed.
func refused(err error) bool {
	e, ok := errors.AsType[*store.Error](err)
	return ok && e.Sentinel != nil
}

func (s *specimen) read(ctx context.Context) {
	if _, err := s.Store.Get(ctx, s.name, nil); err != nil {
		s.failed(ctx, "read", err, "allow reading: every edit reads first")
		return
	}
	s.ok("read", "it was read")
}

// leased proves a lease, and that the store keeps others off what is leased.
func (s *specimen) leased(ctx context.Context) {
	held, err := s.Store.Lease(ctx, s.name, &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
	if err != nil {
		s.failed(ctx, "lease", err, "allow writing, which leases are part of")
		return
	}
	s.lease = held.ID
	_, err = s.Store.Put(ctx, s.name, nil, nil)
	if !errors.Is(err, store.ErrLeaseMissing) {
		s.failed(ctx, "lease", fmt.Errorf("a write without the lease was not refused (%v)", err), "use no store behind something that changes requests")
		return
	}
	_, err = s.Store.Put(ctx, s.name, nil, &store.PutOptions{Conditions: store.Conditions{LeaseID: s.lease, IfMatch: held.ETag}})
	if err != nil {
		s.failed(ctx, "lease", fmt.Errorf("write under the lease: %w", err), "")
		return
	}
	for _, action := range []store.LeaseAction{store.LeaseRenew, store.LeaseRelease} {
		if _, err := s.Store.Lease(ctx, s.name, &store.LeaseRequest{Action: action, ID: s.lease}); err != nil {
			s.failed(ctx, "lease", err, "")
			return
		}
	}
	s.lease = ""
	s.ok("lease", "acquired, kept others off, renewed and released")
}

// removal is how long removing the blob may take.
const removal = 10 * time.Second

// remove deletes the blob also when the examination was broken off.
func (s *specimen) remove(ctx context.Context) {
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	err := s.Store.Delete(detached, s.name, &store.Conditions{LeaseID: s.lease})
	switch {
	case err == nil:
		s.ok("delete", "it was deleted")
	case errors.Is(err, store.ErrNotFound): // it was not written after all
	default:
		s.tell(Finding{Fail, "delete", oneLine(err), "allow deleting, which purge and the archive need, and delete the blob " + s.name})
	}
}
