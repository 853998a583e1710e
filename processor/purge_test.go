package processor_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// ender is a pipeline whose runs end as their input says, with two payloads of
// 10,000 bytes each.
func ender(t *testing.T) *processor.Pipeline {
	t.Helper()
	big := text(10_000)
	return pipeline(t,
		processor.Step{Name: "A", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			return processor.Split("B", big, json.RawMessage(task.Input)).Join("C"), nil
		}},
		processor.Step{Name: "B", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			if string(task.Input) == `"withError"` {
				return processor.Abort("broken"), nil
			}
			return processor.Complete(task.Input), nil
		}},
		processor.Step{Name: "C", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			for r := range task.Results() {
				if string(r.Output) == `"aborted"` {
					return processor.Abort("no"), nil
				}
			}
			return processor.Complete(1), nil
		}},
	)
}

// meddler does something once, when the first payload is deleted.
type meddler struct {
	store.Store
	meddle sync.Once
	f      func()
}

func (m *meddler) Local() bool { return true }

func (m *meddler) Delete(ctx context.Context, name string, c *store.Conditions) error {
	if strings.HasPrefix(name, "payload/") {
		m.meddle.Do(m.f)
	}
	return m.Store.Delete(ctx, name, c)
}

// A worker whose outcome comes too late may still write payloads.
func TestPurge_TakesPayloadsThatAreWrittenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		p.run(pl, "r", "completed")
		late := "payload/" + p.stream("r").Run() + "/00.late.out"
		purger := w.processOn(&meddler{Store: w.st, f: func() {
			if _, err := w.st.Put(t.Context(), late, []byte("1"), nil); err != nil {
				t.Error(err)
			}
		}}, nil)
		purged, err := purger.Purge(t.Context(), "r")
		if err != nil || purged.Payloads != 3 {
			t.Errorf("Purge() = %+v, %v, want the late payload, too", purged, err)
		}
		if left := w.blobs("payload/"); len(left) != 0 {
			t.Errorf("the purge left %q", left)
		}
	})
}

// Killed between its two steps, an archiving leaves the document twice.
func TestPurge_RemovesBothCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		run := p.start(pl, "r", "completed")
		p.await("r")
		open, err := w.st.Get(t.Context(), "streams/r.xml", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.st.Put(t.Context(), "archive/r~"+run.ID+".xml", open.Body, &store.PutOptions{Metadata: open.Metadata}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Purge(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if left := slices.Concat(w.blobs("archive/"), w.blobs("streams/")); len(left) != 0 {
			t.Errorf("the purge left %q", left)
		}
	})
}

// killedPurge is a world with a run whose purge was killed when it had marked it,
// and removed one payload.
func killedPurge(t *testing.T) (w *world, p *process) {
	t.Helper()
	w = newWorld(t)
	p = w.process(nil)
	pl := ender(t)
	p.work(nil, pl)
	p.run(pl, "r", "withError")
	p.stop()
	p.done.Wait()
	st := &stopStore{cutStore: cutStore{Store: w.st}}
	st.left.Store(2)
	if _, err := w.processOn(st, nil).Purge(t.Context(), "r"); !errors.Is(err, errCut) {
		t.Fatalf("Purge() = %v, want it killed", err)
	}
	time.Sleep(time.Minute) // until its lease has run out
	if got := w.blobs("payload/"); len(got) != 1 {
		t.Fatalf("the payloads are %q, want one left", got)
	}
	return w, p
}

// What is being purged is gone for everyone, even for one who has waited for the
// lease that the killed one had.
func TestPurge_WhatItHasBegunWithIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p := killedPurge(t)
		for name, f := range map[string]func() error{
			"Read":   func() error { _, err := p.Read(t.Context(), "r"); return err },
			"Retry":  func() error { _, err := p.Retry(t.Context(), "r", nil); return err },
			"Cancel": func() error { return p.Cancel(t.Context(), "r", "", "", "") },
			"Resume": func() error { return p.Resume(t.Context(), "r", "") },
		} {
			if err := f(); !errors.Is(err, processor.ErrNoRun) {
				t.Errorf("%s() = %v, want ErrNoRun", name, err)
			}
		}
		if _, err := p.Purge(t.Context(), "r"); err != nil {
			t.Errorf("Purge() again = %v", err)
		}
		if left := slices.Concat(w.blobs("payload/"), w.blobs("streams/")); len(left) != 0 {
			t.Errorf("the purges left %q", left)
		}
	})
}

// If nobody begins it again, the sweep ends it.
func TestPurge_IsEndedByTheSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := killedPurge(t)
		w.process(nil).work(nil, ender(t))
		time.Sleep(2 * time.Hour)
		if left := slices.Concat(w.blobs("payload/"), w.blobs("streams/"), w.blobs("archive/")); len(left) != 0 {
			t.Errorf("the sweep left %q", left)
		}
	})
}

// lagging makes each request take a moment.
type lagging struct{ store.Store }

func (l lagging) Local() bool { return true }

func (l lagging) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	time.Sleep(time.Millisecond)
	return l.Store.Get(ctx, name, c)
}

func (l lagging) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	time.Sleep(time.Millisecond)
	return l.Store.Put(ctx, name, body, o)
}

func (l lagging) Delete(ctx context.Context, name string, c *store.Conditions) error {
	time.Sleep(time.Millisecond)
	return l.Store.Delete(ctx, name, c)
}

// A retry and a purge of the same run: it lives with all it has, or is gone with
// all it had.
func TestPurge_AgainstRetryOfAnArchivedRun(t *testing.T) {
	var retried, purged atomic.Int32
	for delay := range 12 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.processOn(slowStore{w.st}, nil)
			pl := ender(t)
			p.work(nil, pl)
			p.run(pl, "r", "withError")
			time.Sleep(2 * time.Hour)
			p.stop()
			p.done.Wait()
			before := len(w.blobs("payload/"))

			var both sync.WaitGroup
			both.Go(func() {
				if _, err := w.processOn(lagging{w.st}, nil).Retry(t.Context(), "r", nil); err == nil {
					retried.Add(1)
				} else if !errors.Is(err, processor.ErrNoRun) {
					t.Errorf("Retry() = %v, want ErrNoRun", err)
				}
			})
			time.Sleep(time.Duration(delay-6) * time.Millisecond / 2)
			_, err := w.processOn(lagging{w.st}, nil).Purge(t.Context(), "r")
			both.Wait()
			switch {
			case err == nil:
				purged.Add(1)
				if left := slices.Concat(w.blobs("payload/"), w.blobs("streams/"), w.blobs("archive/")); len(left) != 0 {
					t.Errorf("after %d: the purge left %q", delay, left)
				}
			case !errors.Is(err, processor.ErrOpen):
				t.Errorf("after %d: Purge() = %v, want ErrOpen", delay, err)
			case len(w.blobs("payload/")) != before:
				t.Errorf("after %d: of %d payloads there are %q", delay, before, w.blobs("payload/"))
			}
		})
	}
	if retried.Load() == 0 || purged.Load() == 0 {
		t.Errorf("%d retries and %d purges won, want some of each", retried.Load(), purged.Load())
	}
}

// A run with events that were canceled, retried and replaced goes as a whole, with
// the payloads of those, too.
func TestPurge_OfARetriedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := ender(t)
		p.work(nil, pl)
		p.run(pl, "r", "withError")
		for range 3 {
			if _, err := p.Retry(t.Context(), "r", &processor.RetryOptions{From: "00", Input: text(6000)}); err != nil {
				t.Fatal(err)
			}
			p.await("r")
		}
		if err := p.Cancel(t.Context(), "r", "", "", ""); !errors.Is(err, eventstream.ErrFinal) {
			t.Errorf("Cancel() = %v", err)
		}
		payloads := w.blobs("payload/")
		purged, err := p.Purge(t.Context(), "r")
		if err != nil || purged.Payloads != len(payloads) || len(payloads) < 10 {
			t.Errorf("Purge() = %+v, %v, want all of %q", purged, err, payloads)
		}
		if left := slices.Concat(w.blobs("payload/"), w.blobs("streams/")); len(left) != 0 {
			t.Errorf("the purge left %q", left)
		}
	})
}

// Of two purges of a run at once both succeed, and one counts what went.
func TestPurge_TwoAtOnce(t *testing.T) {
	named := func(p *process) (payloads int, err error) {
		_, purged, err := p.purge(&processor.PurgeOptions{Names: []string{"r"}})
		return purged.Payloads, err
	}
	single := func(p *process) (payloads int, err error) {
		purged, err := p.Purge(p.w.t.Context(), "r")
		return purged.Payloads, err
	}
	for delay := range 12 {
		for name, purge := range map[string]func(*process) (int, error){"one": single, "named": named} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.process(nil)
				pl := ender(t)
				p.work(nil, pl)
				p.run(pl, "r", "completed")
				p.stop()
				p.done.Wait()
				want := len(w.blobs("payload/"))

				var both sync.WaitGroup
				var isGone atomic.Bool
				first := 0
				both.Go(func() {
					var err error
					if first, err = purge(w.processOn(lagging{w.st}, nil)); err != nil {
						t.Errorf("%s, first: %v", name, err)
					}
					isGone.Store(true)
				})
				time.Sleep(time.Duration(delay) * time.Millisecond / 2)
				late := isGone.Load()
				second, err := purge(w.processOn(lagging{w.st}, nil))
				both.Wait()
				if err != nil && !late {
					t.Errorf("%s, second after %d: %v", name, delay, err)
				}
				if first+second != want {
					t.Errorf("%s, after %d: %d and %d payloads were removed, want %d in all", name, delay, first, second, want)
				}
			})
		}
	}
}

// What a purge cannot take, because there is nothing to cancel or nothing to read in
// it, is named by its blob.
func TestPurge_SaysWhatHelps(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	for name, body := range map[string]string{"empty": "", "broken": "<x/>"} {
		if _, err := w.st.Put(t.Context(), processor.BlobOf(name), []byte(body), nil); err != nil {
			t.Fatal(err)
		}
		_, _, named := p.purge(&processor.PurgeOptions{Names: []string{name}})
		_, single := p.Purge(t.Context(), name)
		for _, err := range []error{named, single} {
			if err == nil || !strings.Contains(err.Error(), "remove the blob streams/"+name+".xml") || strings.Contains(err.Error(), "cancel it") {
				t.Errorf("purge of %s: %v, want the blob to be removed", name, err)
			}
		}
	}
}
