package eventstream_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func claimable(r *run, now time.Time, from int) (ids []string) {
	for e := range r.Claimable(now, from) {
		ids = append(ids, e.ID())
	}
	return ids
}

func TestClaim(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w1", "timeout", "30s", "traceparent", "00-ab") })
	e := r.Root()
	if !e.Running() || e.Waiting() || e.Key() != "w1" || e.Attempt() != 1 || !e.Time("started").Equal(r.now) || e.Timeout() != 30*time.Second {
		t.Errorf("the claimed event is %s", e.XML())
	}
	if got, err := r.Owned("00", "w1", 1); got != e || err != nil {
		t.Errorf("Owned = %v, %v", got, err)
	}
	if got, want := r.NextWake(), r.now.Add(30*time.Second); !got.Equal(want) {
		t.Errorf("NextWake() = %v, want %v", got, want)
	}
	for name, f := range map[string]func() (*eventstream.Event, error){
		"another worker":  func() (*eventstream.Event, error) { return r.Owned("00", "w2", 1) },
		"another attempt": func() (*eventstream.Event, error) { return r.Owned("00", "w1", 2) },
		"no such event":   func() (*eventstream.Event, error) { return r.Owned("07", "w1", 1) },
	} {
		if got, err := f(); got != nil || !errors.Is(err, eventstream.ErrNotOwner) {
			t.Errorf("Owned by %s = %v, %v, want ErrNotOwner", name, got, err)
		}
	}
	r.refused(eventstream.ErrNotClaimable, func() error { return r.Claim(r.Root(), "w2") })
	r.complete("00")
	if _, err := r.Owned("00", "w1", 1); !errors.Is(err, eventstream.ErrNotOwner) || !errors.Is(err, eventstream.ErrFinal) {
		t.Errorf("Owned of what has ended = %v, want ErrNotOwner and ErrFinal", err)
	}
	r.refused(eventstream.ErrNotClaimable, func() error { return r.Claim(r.Root(), "w2") })
}

func TestClaim_Refused(t *testing.T) {
	r := start(t)
	r.refused(eventstream.ErrValue, func() error { return r.Claim(r.Root(), "") })
	r.refused(eventstream.ErrValue, func() error { return r.Claim(r.Root(), "\x00") })
	r.refused(eventstream.ErrValue, func() error { return r.Claim(r.Root(), "w", "timeout") })
	r.refused(eventstream.ErrTime, func() error { return r.Claim(r.Root(), "w", "timeout", "long") })
	r.refused(eventstream.ErrReadOnly, func() error { return r.Claim(r.Root(), "w", "status", "completed") })
}

// TestOwned_Zombie: a claim that was given back and taken again is another one.
func TestOwned_Zombie(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	r.edit(func() error { return r.GiveBack(r.Root(), time.Time{}) })
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	if _, err := r.Owned("00", "w", 1); !errors.Is(err, eventstream.ErrNotOwner) {
		t.Errorf("Owned = %v, want ErrNotOwner", err)
	}
	if _, err := r.Owned("00", "w", 2); err != nil {
		t.Error(err)
	}
	r.split("00", 1, nil)
	if _, err := r.Owned("00", "w", 2); !errors.Is(err, eventstream.ErrNotOwner) {
		t.Errorf("Owned after a split = %v, want ErrNotOwner", err)
	}
}

func TestGiveBack(t *testing.T) {
	r := start(t)
	r.refused(eventstream.ErrStatus, func() error { return r.GiveBack(r.Root(), time.Time{}) })
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	due := r.now.Add(time.Minute)
	r.edit(func() error { return r.GiveBack(r.Root(), due) })
	e := r.Root()
	if e.Status() != eventstream.Init || e.Key() != "" || !e.Time("started").IsZero() || !e.Time("due").Equal(due) || e.Attempt() != 1 {
		t.Errorf("given back: %s", e.XML())
	}
	if got := claimable(r, due.Add(-time.Millisecond), 0); got != nil {
		t.Errorf("claimable before it is due: %v", got)
	}
	if got := claimable(r, due, 0); len(got) != 1 {
		t.Errorf("not claimable when it is due: %v", got)
	}
	if !r.NextWake().Equal(due) || r.Summary().Ready["Root"] != 0 {
		t.Errorf("NextWake() = %v, %+v", r.NextWake(), r.Summary())
	}
	r.refused(eventstream.ErrNotClaimable, func() error { return r.Claim(e, "w") })
	r.now = due
	r.edit(func() error { return r.Claim(e, "w") })
	if e.Attr("due") != "" {
		t.Errorf("claimed when due: %s", e.XML())
	}
	r.split("00", 1, nil)
	r.refused(eventstream.ErrStatus, func() error { return r.GiveBack(e, time.Time{}) })
}

func TestWait(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w", "timeout", "5s") })
	claimed := r.now
	r.edit(func() error { return r.Wait(r.Root(), time.Minute) })
	e := r.Root()
	if !e.Waiting() || e.Running() || e.Key() != "" || !e.Time("started").Equal(claimed) {
		t.Errorf("waiting: %s", e.XML())
	}
	if got, want := r.NextWake(), r.now.Add(time.Minute); !got.Equal(want) {
		t.Errorf("NextWake() = %v, want a minute after the wait began, %v", got, want)
	}
	if n := len(slices.Collect(r.Woken(r.NextWake().Add(-time.Millisecond)))); n != 0 {
		t.Errorf("%d woken before the timeout", n)
	}
	if n := len(slices.Collect(r.Woken(r.NextWake()))); n != 1 {
		t.Errorf("%d woken at the timeout, want 1", n)
	}
	r.edit(func() error { return r.Wait(r.Root(), 0) })
	if got := r.NextWake(); !got.IsZero() {
		t.Errorf("NextWake() = %v without a timeout", got)
	}
	r.complete("00")
	r.refused(eventstream.ErrFinal, func() error { return r.Wait(r.Root(), 0) })

	r = start(t)
	r.edit(func() error { return r.Wait(r.Root(), 1500*time.Microsecond) }) // from init
	if got := r.Root().Timeout(); got != 1500*time.Microsecond || !r.Root().Time("started").Equal(r.now) {
		t.Errorf("waiting: %s", r.Root().XML())
	}
	r.split("00", 1, nil)
	r.refused(eventstream.ErrStatus, func() error { return r.Wait(r.Root(), 0) })
}

func TestFail(t *testing.T) {
	r := start(t)
	r.edit(func() error { return r.Claim(r.Root(), "w") })
	for range 2 {
		r.edit(func() error { return r.Fail(r.Root(), eventstream.Attempt{N: 1, Error: "e"}) })
	}
	if got := r.Root().Failures(); got != 2 {
		t.Errorf("Failures() = %d, want 2", got)
	}
	// What on_failure does: the error is kept, and the next step takes over.
	r.edit(func() error {
		_, err := r.Next(r.Root(), eventstream.NewEvent{Name: "OnFailure"})
		return err
	})
	r.statuses("00", "inprocess")
	r.complete("01")
	r.statuses("00", "completed")
	r.refused(eventstream.ErrFinal, func() error { return r.Fail(r.Root(), eventstream.Attempt{}) })
	r.refused(eventstream.ErrFinal, func() error { return r.Complete(r.Root(), nil) })
	r.refused(eventstream.ErrFinal, func() error { return r.SetCursor(r.Root(), eventstream.JSON([]byte("1"))) })
	r.refused(eventstream.ErrFinal, func() error { return r.GiveBack(r.Root(), time.Time{}) })
}

func TestClaimable_FromAPlaceOn(t *testing.T) {
	r := start(t)
	r.split("00", 4, nil)
	for from, want := range map[int][]string{
		0: {"01.00", "02.00", "03.00", "04.00"}, 1: {"01.00", "02.00", "03.00", "04.00"},
		3: {"03.00", "04.00", "01.00", "02.00"}, 5: {"01.00", "02.00", "03.00", "04.00"}, 99: {"01.00", "02.00", "03.00", "04.00"},
	} {
		if got := claimable(r, r.now, from); !slices.Equal(got, want) {
			t.Errorf("Claimable from %d = %v, want %v", from, got, want)
		}
	}
	// A loop may claim what it is given.
	r.edit(func() error {
		n := 0
		for e := range r.Claimable(r.now, 3) {
			if err := r.Claim(e, "w"); err != nil {
				return err
			}
			if n++; n == 3 {
				break
			}
		}
		return nil
	})
	if got, want := claimable(r, r.now, 0), []string{"02.00"}; !slices.Equal(got, want) {
		t.Errorf("Claimable after three claims = %v, want %v", got, want)
	}
	if got := r.Summary(); got.Running["B"] != 3 || got.Ready["B"] != 1 {
		t.Errorf("Summary() = %+v", got)
	}
}
