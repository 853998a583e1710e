package scope

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// RunOptions say how Run gets its lease; nil means the defaults.
type RunOptions struct {
	// Duration of the lease without a renewal, in whole seconds from 15 s to 60 s.
	// Default: that of the scope.
	Duration time.Duration
	// Wait is how long to wait for a lease that is held. Default: until the
	// context ends.
	Wait time.Duration
	// Create makes an empty blob if there is none.
	Create bool
	// ID is a GUID to acquire the lease with. Default, and best: a fresh one.
	ID string
}

func (o *RunOptions) hold() *HoldOptions {
	if o == nil {
		o = &RunOptions{}
	}
	return &HoldOptions{Duration: o.Duration, ID: o.ID, Create: o.Create, Wait: o.Wait, WaitForever: o.Wait == 0}
}

// Run is the LeaseScope around a function: it waits for the lease of a blob, runs
// f while the lease is kept, and releases it whichever way f ends: by return, by
// panic, by a canceled context. The context of f ends when the lease is lost, with
// a cause that matches ErrLeaseLost, and so does the error of Run, although f may
// not have noticed.
func (s *Scope) Run(ctx context.Context, blob string, f func(ctx context.Context, h *Held) error, o *RunOptions) error {
	l, err := s.Hold(ctx, blob, o.hold())
	if err != nil {
		return err
	}
	defer func() {
		if err := l.Release(ctx); err != nil {
			s.set.logger.WarnContext(ctx, "lease not released", "blob", blob, "lease", l.id, "err", err)
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	defer stop()
	err = f(ctx, &Held{l: l, etag: l.etag})
	switch lost := l.Err(); {
	case lost == nil || errors.Is(err, lost):
		return err
	case err == nil:
		return lost
	default:
		return fmt.Errorf("%w: %w", err, lost)
	}
}

// Held is the leased blob inside of Run. Its methods name the lease in every
// request, and refuse once it is lost. They are not for use after Run.
type Held struct {
	l *Lease

	mu   sync.Mutex // guards the field below
	etag string     // of the content that was last read or written
}

// ID is the lease ID.
func (h *Held) ID() string { return h.l.id }

// Polls is how often the lease was asked for or looked at; 1 if it was free.
func (h *Held) Polls() int { return h.l.polls }

// Waited is how long it took to get the lease.
func (h *Held) Waited() time.Duration { return h.l.waited }

// ETag is that of the content as last read or written, or as it was when the
// lease was acquired.
func (h *Held) ETag() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.etag
}

func (h *Held) setETag(etag string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.etag = etag
}

// Get reads the blob, if the lease is still ours.
func (h *Held) Get(ctx context.Context) (*store.Object, error) {
	if err := h.usable(ctx); err != nil {
		return nil, err
	}
	var object *store.Object
	err := h.l.s.insist(ctx, h.l.s.set.call, func(ctx context.Context) (err error) {
		object, err = h.l.s.st.Get(ctx, h.l.blob, &store.Conditions{LeaseID: h.l.id})
		return err
	})
	if err != nil {
		return nil, h.refused("read", err)
	}
	// An answer that comes after the end of our lease may be of what the next holder
	// changes by now.
	if err := h.l.Err(); err != nil {
		return nil, err
	}
	h.setETag(object.ETag)
	return object, nil
}

// Put replaces the content and the metadata of the blob, under the lease and if
// the blob is as it was last read or written. A Put that was not answered is
// settled: under the lease nobody else can have written. ErrOutcomeUnknown if the
// lease was lost before that, the store does not answer, or somebody who was given
// the lease ID has written.
func (h *Held) Put(ctx context.Context, body []byte, metadata map[string]string) error {
	if err := h.usable(ctx); err != nil {
		return err
	}
	o := &store.PutOptions{
		Conditions: store.Conditions{LeaseID: h.l.id, IfMatch: h.ETag()},
		Metadata:   maps.Clone(metadata),
	}
	return h.write(ctx, "write", func(ctx context.Context) error {
		info, err := h.l.s.st.Put(ctx, h.l.blob, body, o)
		if err == nil {
			h.setETag(info.ETag)
		}
		return err
	}, func(ctx context.Context, info *store.Info, look error) (done bool, err error) {
		if look != nil || info.ETag == o.IfMatch {
			return false, nil
		}
		return h.isOurs(ctx, info, body)
	})
}

// errTwin: somebody wrote with our lease ID.
var errTwin = errors.New("somebody else who knows the lease ID has written")

// isOurs reports whether content that appeared under our lease is what we wrote.
// Whoever shares the lease ID on purpose may have written it just as well.
func (h *Held) isOurs(ctx context.Context, info *store.Info, body []byte) (bool, error) {
	var object *store.Object
	err := within(ctx, h.l.s.set.call, func(ctx context.Context) (err error) {
		object, err = h.l.s.st.Get(ctx, h.l.blob, &store.Conditions{LeaseID: h.l.id, IfMatch: info.ETag})
		return err
	})
	switch {
	case errors.Is(err, store.ErrConditionNotMet):
		return false, errTwin
	case err != nil:
		return false, nil // another look will tell
	case !bytes.Equal(object.Body, body):
		return false, errTwin
	}
	h.setETag(object.ETag)
	return true, nil
}

// Delete removes the blob, under the lease and if it is as it was last read or
// written, and with it the lease.
func (h *Held) Delete(ctx context.Context) error {
	if err := h.usable(ctx); err != nil {
		return err
	}
	c := &store.Conditions{LeaseID: h.l.id}
	if h.l.blob != "" { // a container has no conditions on its ETag
		c.IfMatch = h.ETag()
	}
	return h.write(ctx, "delete", func(ctx context.Context) error {
		return h.l.s.st.Delete(ctx, h.l.blob, c)
	}, func(_ context.Context, _ *store.Info, look error) (done bool, err error) {
		return missing(look), nil
	})
}

// usable refuses a request that would be of no use, before it is sent and its
// outcome becomes a question.
func (h *Held) usable(ctx context.Context) error {
	if err := h.l.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// write does a conditional write until its outcome is known. After one that was
// not answered it looks, under the lease, since nobody else can have written as
// long as that is ours; settle says what the look shows. An error of it says that
// the outcome cannot be found out.
func (h *Held) write(ctx context.Context, op string, do func(context.Context) error,
	settle func(context.Context, *store.Info, error) (done bool, err error)) error {
	s := h.l.s
	retry := backoff{waits: s.set.retry}
	sent := false // a write was not answered, and may still arrive
	for began := time.Now(); ; {
		err := within(ctx, s.set.call, do)
		if err == nil {
			return nil
		}
		sent = sent || !known(err)
		switch {
		case !passing(err) && !sent:
			return h.refused(op, err)
		case sent:
			info, look := h.look(ctx)
			switch done, err := settle(ctx, info, look); {
			case done:
				return nil
			case err != nil:
				return &OutcomeError{op, h.l.blob, err}
			}
			if look != nil && !passing(look) {
				return &OutcomeError{op, h.l.blob, h.refused(op, look)}
			}
		}
		if cause := sleep(ctx, retry.next()); cause != nil || time.Since(began) >= s.set.giveUp || h.l.Err() != nil {
			return h.giveUp(op, sent, endedBy(cause, err))
		}
	}
}

func (h *Held) look(ctx context.Context) (info *store.Info, err error) {
	err = within(ctx, h.l.terms.try, func(ctx context.Context) (err error) {
		info, err = h.l.s.st.Stat(ctx, h.l.blob, &store.Conditions{LeaseID: h.l.id})
		return err
	})
	return info, err
}

func (h *Held) giveUp(op string, sent bool, err error) error {
	switch lost := h.l.Err(); {
	case sent:
		return &OutcomeError{op, h.l.blob, err}
	case lost != nil:
		return lost
	}
	return h.refused(op, err)
}

// refused is the error of a request that the store refused. If that is because
// the lease is not ours any more, it is lost from now on.
func (h *Held) refused(op string, err error) error {
	if notOurs(err) {
		return h.l.lose(err)
	}
	return &Error{op, h.l.blob, err}
}
