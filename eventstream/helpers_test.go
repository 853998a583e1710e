package eventstream_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// run is a stream under test, with a clock that goes on a second with each edit.
type run struct {
	*testing.T
	*eventstream.Stream
	now time.Time
}

// start begins a run whose root is in status init.
func start(t *testing.T) *run {
	t.Helper()
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "order", Run: "r1", Pipeline: "p", Root: eventstream.NewEvent{Name: "Root"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &run{t, s, epoch}
}

// parse reads a document that has to be accepted.
func parse(t *testing.T, doc string) *run {
	t.Helper()
	s, err := eventstream.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return &run{t, s, epoch}
}

// edit changes the stream and checks what has to hold after every edit: the
// indexes are those of the document read anew.
func (r *run) edit(f func() error) eventstream.Changes {
	r.Helper()
	r.now = r.now.Add(time.Second)
	changes, err := r.Edit(r.now, f)
	if err != nil {
		r.Fatal(err)
	}
	r.check()
	return changes
}

func (r *run) check() {
	r.Helper()
	again, err := eventstream.Parse(r.Bytes())
	if err != nil {
		r.Fatalf("Parse of what was written: %v\n%s", err, r.Bytes())
	}
	if got, want := r.Dump(), again.Dump(); got != want {
		r.Errorf("the indexes are\n%s\nread anew they are\n%s", got, want)
	}
	if got := r.Size(); got != len(r.Bytes()) {
		r.Errorf("Size() = %d, want %d", got, len(r.Bytes()))
	}
}

// refused tries an edit that has to fail with want and change nothing, not even
// where the error is passed over.
func (r *run) refused(want error, f func() error) {
	r.Helper()
	before, dump := string(r.Bytes()), r.Dump()
	r.edit(func() error {
		if err := f(); !errors.Is(err, want) {
			r.Errorf("error = %v, want %v", err, want)
		}
		return nil
	})
	if got := string(r.Bytes()); got != before {
		r.Errorf("a refused operation left\n%s\nwant\n%s", got, before)
	}
	if got := r.Dump(); got != dump {
		r.Errorf("a refused operation left the indexes\n%s\nwant\n%s", got, dump)
	}
}

// split splits an event into branches of step B, and gives their ids.
func (r *run) split(id string, n int, o *eventstream.SplitOptions) []string {
	r.Helper()
	branches := slices.Repeat([]eventstream.NewEvent{{Name: "B"}}, n)
	var ids []string
	r.edit(func() error {
		created, err := r.Split(r.Event(id), branches, o)
		for _, e := range created {
			ids = append(ids, e.ID())
		}
		return err
	})
	return ids
}

func (r *run) complete(ids ...string) {
	r.Helper()
	for _, id := range ids {
		r.edit(func() error { return r.Complete(r.Event(id), nil) })
	}
}

func (r *run) abort(ids ...string) {
	r.Helper()
	for _, id := range ids {
		r.edit(func() error { return r.Abort(r.Event(id), "", "broken") })
	}
}

// statuses compares the status of events, given as id and status by turns; live
// events only, unless the status begins with "superseded ".
func (r *run) statuses(pairs ...string) {
	r.Helper()
	for i := 0; i < len(pairs); i += 2 {
		e := r.Event(pairs[i])
		if e == nil {
			r.Errorf("there is no event %s in\n%s", pairs[i], r.Bytes())
			continue
		}
		got := e.Status().String()
		if e.WithError() {
			got += " with error"
		}
		if e.Superseded() {
			got = "superseded " + got
		}
		if got != pairs[i+1] {
			r.Errorf("event %s is %s, want %s, in\n%s", pairs[i], got, pairs[i+1], r.Bytes())
		}
	}
}

func (r *run) next(id string, want ...string) {
	r.Helper()
	var got []string
	for n := range r.Event(id).Next() {
		got = append(got, n.ID())
	}
	if !slices.Equal(got, want) {
		r.Errorf("Next of %s = %v, want %v", id, got, want)
	}
}
