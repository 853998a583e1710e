package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// strokes is how many a map needs. They take longer than a lease lasts.
const strokes = 6

// draft is a map on which somebody draws. A process keeps it on its own disk, with
// the ID of the lease, so that the next one can go on.
type draft struct {
	Map     string
	LeaseID string
	ETag    string // of the map that was drawn on
	Base    string
	Strokes int
}

// editor is one process that draws maps.
type editor struct {
	name   string
	wire   *wire
	scope  *scope.Scope
	keeper *scope.Keeper
	diary  *diary
}

func newEditor(name string, st store.Store, lease time.Duration, diary *diary) *editor {
	w := &wire{Store: st}
	sc := scope.New(w, nil)
	return &editor{name, w, sc, sc.NewKeeper(&scope.HoldOptions{Duration: lease}), diary}
}

func (e *editor) openAll(ctx context.Context) ([]draft, error) {
	var drafts []draft
	for _, name := range maps {
		d, err := e.open(ctx, name)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

// open takes the lease of a map and begins a draft.
func (e *editor) open(ctx context.Context, name string) (draft, error) {
	if _, err := e.keeper.Try(ctx, name); err != nil {
		return draft{}, err
	}
	id := e.keeper.ID(name)
	if id == "" {
		return draft{}, fmt.Errorf("open %q: somebody else has its lease", name)
	}
	object, err := e.wire.Get(ctx, name, &store.Conditions{LeaseID: id})
	if err != nil {
		return draft{}, err
	}
	e.diary.say("%s opens %s (%s), lease %s", e.name, name, object.Body, id)
	return draft{Map: name, LeaseID: id, ETag: object.ETag, Base: string(object.Body)}, nil
}

// draw does the long work. The keeper renews the lease meanwhile; if that is
// refused, the context of the lease ends, and the work with it.
func (e *editor) draw(d *draft, stroke time.Duration) {
	lease := e.keeper.Lease(d.Map)
	if lease == nil {
		return // lost before the first stroke
	}
	for d.Strokes < strokes {
		select {
		case <-time.After(stroke):
			d.Strokes++
		case <-lease.Context().Done():
			e.diary.say("%s loses %s after %d strokes, and stops: %s",
				e.name, d.Map, d.Strokes, why(context.Cause(lease.Context())))
			return
		}
	}
}

// why is the code of the store, if the store had a say in it.
func why(err error) string { return cmp.Or(store.Code(err), err.Error()) }

// resume goes on with a draft of a process that has died. That its lease can be
// renewed shows that nobody has changed the map, or leased it, since.
func (e *editor) resume(ctx context.Context, d draft) error {
	info, err := e.wire.Stat(ctx, d.Map, nil)
	if err != nil {
		return err
	}
	e.diary.say("%s finds the lease of %s %s", e.name, d.Map, info.Lease.State)
	err = e.keeper.Adopt(ctx, d.Map, d.LeaseID)
	if errors.Is(err, store.ErrLeaseMismatch) {
		e.diary.say("%s cannot adopt lease %s: %s", e.name, d.LeaseID, why(err))
		_, err = e.open(ctx, d.Map)
		return err
	}
	if err != nil {
		return err
	}
	e.diary.say("%s adopts lease %s and saves the draft", e.name, d.LeaseID)
	return e.save(ctx, d)
}

// save names the lease, and what the draft was made of, so that the store refuses
// it if either is not so any more.
func (e *editor) save(ctx context.Context, d draft) error {
	_, err := e.wire.Put(ctx, d.Map, fmt.Append(nil, d.Base, " ", strings.Repeat("~", d.Strokes)), &store.PutOptions{
		Conditions: store.Conditions{LeaseID: d.LeaseID, IfMatch: d.ETag},
	})
	return err
}

// crash ends the process without a word to the store: its leases are not released.
func (e *editor) crash() {
	e.diary.say("%s dies", e.name)
	e.wire.cut.Store(true)
	e.scope.Close()
}
