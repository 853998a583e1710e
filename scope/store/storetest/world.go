package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// The lease IDs of the tables. A fourth one, X, is made by the store.
const (
	idA = "aaaaaaaa-0000-4000-8000-00000000000a"
	idB = "bbbbbbbb-0000-4000-8000-00000000000b"
	idC = "cccccccc-0000-4000-8000-00000000000c"
)

// world is what a scenario acts upon: a store and a blob, or the container, of
// its own.
type world struct {
	ctx   context.Context
	store store.Store
	blob  string // "" if the target is the container
	made  string // the ID that the store made, X

	etag     string // of the last put
	modified time.Time
	granted  time.Time // when a lease was last asked for that was granted
}

// slack is how far the times are off that the store tells.
func (w *world) slack() time.Duration {
	if store.IsLocal(w.store) {
		return 0
	}
	return slack
}

// answer is what the tables show of a request: its code and the state of the
// lease afterwards.
func (w *world) answer(err error) string {
	return code(err) + " " + w.state()
}

// code is the code of an error, checked against its sentinel, or "ok".
func code(err error) string {
	if err == nil {
		return "ok"
	}
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case !ok:
		return fmt.Sprintf("an error that is no *store.Error: %v", err)
	case e.Sentinel == nil:
		return fmt.Sprintf("outcome unknown: %v", err)
	case e.Op == "":
		return fmt.Sprintf("an error without operation: %v", err)
	case store.SentinelOf(e.Code) != e.Sentinel:
		return fmt.Sprintf("code %s with the wrong sentinel: %v", e.Code, err)
	}
	return e.Code
}

// state is the state of the target's lease with the letter of the ID that
// holds it: "leased(A)", "available", or "gone" if there is no target.
func (w *world) state() string {
	info, err := w.store.Stat(w.ctx, w.blob, nil)
	switch {
	case errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrContainerNotFound):
		return "gone"
	case err != nil:
		return code(err)
	case !info.Lease.State.Locked():
		return string(info.Lease.State)
	}
	return fmt.Sprintf("%s(%s)", info.Lease.State, w.holder())
}

// holder finds the letter of the active lease by reading under each ID.
func (w *world) holder() string {
	for _, id := range []struct{ letter, id string }{{"A", idA}, {"B", idB}, {"C", idC}, {"X", w.made}} {
		if id.id == "" {
			continue
		}
		if _, err := w.store.Stat(w.ctx, w.blob, &store.Conditions{LeaseID: id.id}); err == nil {
			return id.letter
		}
	}
	return "?"
}

func (w *world) put(c store.Conditions) error {
	info, err := w.store.Put(w.ctx, w.blob, []byte("content"), &store.PutOptions{Conditions: c})
	if err == nil {
		w.etag, w.modified = info.ETag, info.LastModified
	}
	return err
}

func (w *world) remove(c store.Conditions) error { return w.store.Delete(w.ctx, w.blob, &c) }

func (w *world) get(c store.Conditions) error {
	object, err := w.store.Get(w.ctx, w.blob, &c)
	if err == nil && int64(len(object.Body)) != object.Size {
		return fmt.Errorf("a body of %d bytes where %d are due", len(object.Body), object.Size)
	}
	return err
}

func (w *world) stat(c store.Conditions) error {
	_, err := w.store.Stat(w.ctx, w.blob, &c)
	return err
}

// lease does one lease operation on the target.
func (w *world) lease(r store.LeaseRequest) (*store.LeaseResult, error) {
	began := time.Now()
	result, err := w.store.Lease(w.ctx, w.blob, &r)
	if err != nil {
		return nil, err
	}
	if r.Action == store.LeaseAcquire && r.ID == "" {
		w.made = result.ID
	}
	if r.Action == store.LeaseAcquire || r.Action == store.LeaseRenew {
		w.granted = began
	}
	return result, nil
}

func acquire(id string, d time.Duration) store.LeaseRequest {
	return store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: d}
}

func renew(id string) store.LeaseRequest {
	return store.LeaseRequest{Action: store.LeaseRenew, ID: id}
}

func change(from, to string) store.LeaseRequest {
	return store.LeaseRequest{Action: store.LeaseChange, ID: from, NewID: to}
}

func release(id string) store.LeaseRequest {
	return store.LeaseRequest{Action: store.LeaseRelease, ID: id}
}

func breakAfter(d time.Duration) store.LeaseRequest {
	return store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: d}
}

// do makes a step of lease operations that must all succeed.
func do(requests ...store.LeaseRequest) step {
	return step{act: func(w *world) string {
		for _, r := range requests {
			if _, err := w.lease(r); err != nil {
				return fmt.Sprintf("%s: %s", r.Action, code(err))
			}
		}
		return ""
	}}
}

// create makes the target of a scenario; a container is there already.
func create(w *world) string {
	if w.blob == "" {
		return ""
	}
	if err := w.put(store.Conditions{}); err != nil {
		return "put: " + code(err)
	}
	return ""
}

// after lets time pass before the step.
func (s step) after(d time.Duration) step {
	s.wait += d
	return s
}

// ask makes the last step: one request, answered with code and state.
func ask(request func(w *world) error) step {
	return step{act: func(w *world) string { return w.answer(request(w)) }}
}

func askLease(r store.LeaseRequest) step {
	return ask(func(w *world) error {
		_, err := w.lease(r)
		return err
	})
}
