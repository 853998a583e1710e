package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// purge collects what PurgeAll yields: the names of the runs that were removed, and
// of those that were not, as errors.
func (p *process) purge(o *processor.PurgeOptions) (names []string, sum processor.Purged, failed error) {
	p.w.t.Helper()
	names = []string{}
	for run, err := range p.PurgeAll(p.w.t.Context(), o) {
		switch {
		case err != nil:
			p.w.t.Fatal(err)
		case run.Err != nil:
			failed = errors.Join(failed, run.Err)
			continue
		}
		names = append(names, run.Name)
		sum.Payloads += run.Payloads
		sum.Bytes += run.Bytes
	}
	slices.Sort(names)
	return names, sum, failed
}

// bytes of all blobs of the world with a prefix.
func (w *world) bytes(prefixes ...string) (n int64) {
	w.t.Helper()
	for _, prefix := range prefixes {
		for info, err := range w.st.List(w.t.Context(), prefix) {
			if err != nil {
				w.t.Fatal(err)
			}
			n += info.Size
		}
	}
	return n
}

func TestPurgeAll_TakesWhatTheOptionsChoose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil) // a local one would be polled a million times
		pl := ender(t)
		other, err := processor.NewPipeline("other", nil, pl.Steps()...)
		if err != nil {
			t.Fatal(err)
		}
		begin := func(pl *processor.Pipeline, name, end string, tags map[string]string) {
			input, _ := json.Marshal(end)
			if _, err := p.Start(t.Context(), pl, input, &processor.StartOptions{Name: name, Tags: tags}); err != nil {
				t.Fatal(err)
			}
		}
		begin(pl, "canceled", "", nil)
		if err := p.Cancel(t.Context(), "canceled", "", "", ""); err != nil {
			t.Fatal(err)
		}
		p.work(nil, pl, other)
		begin(pl, "old", "completed", map[string]string{"batch": "1"})
		begin(pl, "with-error", "withError", nil)
		p.await("old")
		p.await("with-error")
		time.Sleep(48 * time.Hour) // they are in the archive by now
		begin(pl, "aborted", "aborted", map[string]string{"batch": "2"})
		begin(other, "other", "completed", map[string]string{"batch": "2", "keep": ""})
		p.await("aborted")
		p.await("other")
		p.stop()
		p.done.Wait()
		begin(pl, "open", "completed", map[string]string{"batch": "2"})
		if _, err := p.w.st.Put(t.Context(), "streams/unreadable.xml", []byte("<x/>"), nil); err != nil {
			t.Fatal(err)
		}

		for _, test := range []struct {
			name string
			o    processor.PurgeOptions
			want []string
		}{
			{"all", processor.PurgeOptions{}, []string{"aborted", "canceled", "old", "other", "with-error"}},
			{"completed", processor.PurgeOptions{Status: "completed"}, []string{"old", "other"}},
			{"withError", processor.PurgeOptions{Status: processor.StatusWithError}, []string{"with-error"}},
			{"aborted", processor.PurgeOptions{Status: "aborted"}, []string{"aborted"}},
			{"canceled", processor.PurgeOptions{Status: "canceled"}, []string{"canceled"}},
			{"inprocess", processor.PurgeOptions{Status: "inprocess"}, []string{}},
			{"pipeline", processor.PurgeOptions{Pipeline: "other"}, []string{"other"}},
			{"tag", processor.PurgeOptions{Tags: map[string]string{"batch": "2"}}, []string{"aborted", "other"}},
			{"any tag", processor.PurgeOptions{Tags: map[string]string{"batch": ""}}, []string{"aborted", "old", "other"}},
			{"age", processor.PurgeOptions{OlderThan: 47 * time.Hour}, []string{"canceled", "old", "with-error"}},
			{"age and status", processor.PurgeOptions{OlderThan: 47 * time.Hour, Status: "completed"}, []string{"old"}},
			{"too old", processor.PurgeOptions{OlderThan: 49 * time.Hour}, []string{}},
			{"names", processor.PurgeOptions{Names: []string{"old", "aborted"}}, []string{"aborted", "old"}},
			{"no names", processor.PurgeOptions{Names: []string{}}, []string{}},
			{"names and status", processor.PurgeOptions{Names: []string{"old", "aborted"}, Status: "aborted"}, []string{"aborted"}},
		} {
			test.o.DryRun = true
			if got, _, err := p.purge(&test.o); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("PurgeAll(%s) takes %q, %v, want %q", test.name, got, err, test.want)
			}
		}
		for name, want := range map[string]error{
			"open": processor.ErrOpen, "nobody": processor.ErrNoRun, "../x": processor.ErrName, "unreadable": eventstream.ErrMalformed,
		} {
			o := &processor.PurgeOptions{Names: []string{name, "old"}, DryRun: true, Status: "completed"}
			if got, _, err := p.purge(o); !errors.Is(err, want) || !slices.Equal(got, []string{"old"}) {
				t.Errorf("PurgeAll(%s and old) takes %q, %v, want old and %v", name, got, err, want)
			}
			if got, _, err := p.purge(&processor.PurgeOptions{Names: []string{name}}); !errors.Is(err, want) || len(got) > 0 {
				t.Errorf("PurgeAll(%s) takes %q, %v, want %v", name, got, err, want)
			}
		}
	})
}

// What a dry run counts is what goes, and nothing else goes.
func TestPurgeAll_Counts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		for i := range 3 {
			p.run(pl, fmt.Sprint("r", i), "completed")
		}
		p.run(pl, "stays", "withError")
		staying := w.bytes("payload/"+p.stream("stays").Run()+"/", "streams/stays.xml")
		before := w.bytes("payload/", "streams/", "archive/")
		o := &processor.PurgeOptions{Status: "completed", DryRun: true}
		names, would, err := p.purge(o)
		if err != nil || len(names) != 3 || would.Payloads != 6 || would.Bytes != before-staying {
			t.Errorf("a dry run = %q, %+v, %v, want 6 payloads, %d bytes", names, would, err, before-staying)
		}
		if got := w.bytes("payload/", "streams/", "archive/"); got != before {
			t.Errorf("a dry run left %d bytes of %d", got, before)
		}
		o.DryRun = false
		names, did, err := p.purge(o)
		if err != nil || len(names) != 3 || did != would {
			t.Errorf("PurgeAll() = %q, %+v, %v, want %+v", names, did, err, would)
		}
		if got := w.bytes("payload/", "streams/", "archive/"); got != staying {
			t.Errorf("the purge left %d bytes, want the %d of the run that stays", got, staying)
		}
		if names, did, err := p.purge(o); err != nil || len(names) != 0 || did != (processor.Purged{}) {
			t.Errorf("PurgeAll() again = %q, %+v, %v, want nothing", names, did, err)
		}
	})
}

// One that cannot be removed is reported, and the others go.
func TestPurgeAll_GoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		for _, name := range []string{"a", "b", "c"} {
			p.run(pl, name, "completed")
		}
		time.Sleep(time.Second) // until nobody has the lease of b any more
		hold := &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.LeaseInfinite}
		if _, err := w.st.Lease(t.Context(), "streams/b.xml", hold); err != nil {
			t.Fatal(err)
		}
		names, _, err := p.purge(nil)
		if !errors.Is(err, store.ErrLeaseHeld) || !strings.Contains(err.Error(), `purge run "b"`) || !slices.Equal(names, []string{"a", "c"}) {
			t.Errorf("PurgeAll() = %q, %v, want b leased and the others gone", names, err)
		}
		wantEnd(t, p.await("b"), eventstream.Completed, false, "1")
	})
}

// Killed before any of its requests, and begun again, a purge ends with nothing
// left, in the archive or out of it.
func TestPurgeAll_GoesOnWhereverItWasKilled(t *testing.T) {
	for steps, done := int32(0), false; !done; steps++ {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.processOn(slowStore{w.st}, nil)
			pl := ender(t)
			p.work(nil, pl)
			p.run(pl, "a", "completed")
			time.Sleep(2 * time.Hour)
			p.run(pl, "b", "withError")
			p.stop()
			p.done.Wait()

			st := &stopStore{cutStore: cutStore{Store: w.st}}
			st.left.Store(steps)
			killed := w.processOn(st, nil)
			_, _, err := killed.purge(nil)
			done = err == nil && !st.cut.Load()
			time.Sleep(time.Minute) // until the lease of the killed one has run out
			if _, _, err := p.purge(nil); err != nil {
				t.Errorf("killed at step %d: PurgeAll() again = %v", steps, err)
			}
			if left := slices.Concat(w.blobs("payload/"), w.blobs("streams/"), w.blobs("archive/")); len(left) != 0 {
				t.Errorf("killed at step %d: the purges left %q", steps, left)
			}
		})
	}
}

// A run that comes to life again while others are removed stays as it is.
func TestPurgeAll_LeavesWhatWasReopenedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		p.run(pl, "a", "withError")
		p.run(pl, "b", "withError")
		p.stop()
		p.done.Wait()
		var names []string
		for run, err := range p.PurgeAll(t.Context(), nil) {
			if err != nil || run.Err != nil {
				t.Fatal(err, run.Err)
			}
			names = append(names, run.Name)
			if _, err := p.Retry(t.Context(), "b", nil); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(names, []string{"a"}) {
			t.Errorf("PurgeAll() took %q, want a alone", names)
		}
		again := w.process(nil)
		again.work(nil, pl)
		wantEnd(t, again.await("b"), eventstream.Completed, true, "1")
	})
}

func TestPurgeAll_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		p.run(pl, "a", "completed")
		p.run(pl, "b", "completed")
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		for run, err := range p.PurgeAll(ctx, nil) {
			if n++; n == 2 && !errors.Is(err, enough) || n > 2 {
				t.Errorf("PurgeAll() goes on with %q, %v after the end of its context", run.Name, err)
			}
			cancel(enough)
		}
		if _, err := p.Read(t.Context(), "b"); n != 2 || err != nil {
			t.Errorf("after %d runs b is %v", n, err)
		}
	})
}

// However long a run is open, neither purge nor garbage collection touches it.
func TestPurge_NeverTouchesAnOpenRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		pl := pipeline(t,
			processor.Step{Name: "A", Handler: handler(processor.Split("B", text(10_000), text(10_000)).Join("C"))},
			processor.Step{Name: "B", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				if task.Event == "01.00" {
					return processor.Complete(task.Input), nil
				}
				return processor.Wait(0), nil
			}},
			processor.Step{Name: "C", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				for r, err := range task.Results() {
					if err != nil || len(r.Output) != 10_000 {
						return processor.Abort("result " + r.ID + " is not whole"), nil
					}
				}
				return processor.Complete("whole"), nil
			}},
		)
		p.work(nil, pl)
		p.start(pl, "r", nil)
		for range 4 {
			time.Sleep(20 * time.Hour)
			if names, _, err := p.purge(nil); len(names) != 0 || err != nil {
				t.Errorf("PurgeAll() = %q, %v, want nothing", names, err)
			}
		}
		if err := p.Complete(t.Context(), "r", "02.00", text(10_000), ""); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, `"whole"`)
	})
}
