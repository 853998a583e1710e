package eventstream_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// retry reopens and compares which events were picked.
func (r *run) retry(o *eventstream.ReopenOptions, want ...string) {
	r.Helper()
	var got []string
	changes := r.edit(func() error {
		picks, err := r.Reopen(o)
		for _, e := range picks {
			got = append(got, e.ID())
		}
		return err
	})
	if !slices.Equal(got, want) {
		r.Errorf("Reopen picked %v, want %v", got, want)
	}
	if !changes.Steered {
		r.Error("a retry is not told to the workers")
	}
	for _, id := range got {
		e := r.Event(id)
		if e.Status() != eventstream.Init || e.Failures() != 0 || e.Key() != "" || e.Msg() != "" || !e.Time("started").IsZero() {
			r.Errorf("a picked event is %s", e.XML())
		}
	}
}

func from(r *run, id string) *eventstream.ReopenOptions {
	return &eventstream.ReopenOptions{From: r.Event(id)}
}

func below(r *run, id string) *eventstream.ReopenOptions {
	return &eventstream.ReopenOptions{Below: r.Event(id)}
}

func joined() *eventstream.SplitOptions { return &eventstream.SplitOptions{Join: "J"} }

// TestReopen_FailedBranch: the join was made with its error; a fresh one is made
// when it has run again.
func TestReopen_FailedBranch(t *testing.T) {
	r := start(t)
	r.split("00", 3, joined())
	r.edit(func() error { return r.Claim(r.Event("01.00"), "w") })
	r.edit(func() error { return r.Fail(r.Event("01.00"), eventstream.Attempt{N: 1, Error: "e"}) })
	r.abort("01.00")
	r.edit(func() error { return r.Complete(r.Event("02.00"), eventstream.JSON([]byte("2"))) })
	r.complete("03.00", "01")
	r.statuses("00", "completed with error")
	r.retry(&eventstream.ReopenOptions{By: "alice", Input: eventstream.JSON([]byte(`"new"`))}, "01.00")
	r.statuses("00", "inprocess", "01.00", "init", "02.00", "completed", "03.00", "completed", "01", "superseded completed")
	r.next("00", "01.00", "02.00", "03.00")
	e := r.Event("01.00")
	if input, _ := e.Input(); string(input.JSON) != `"new"` || e.Attr("by") != "alice" || e.Attempt() != 1 || len(e.Attempts()) != 1 {
		t.Errorf("the picked event is %s", e.XML())
	}
	if got := r.Last().ID(); got != "00" {
		t.Errorf("Last() = %s while there is no join", got)
	}
	if got := r.Progress(); got.Total != 4 {
		t.Errorf("Progress() = %+v, want 4 live events", got)
	}
	r.complete("01.00")
	r.statuses("02", "init") // step 01 is used up
	r.complete("02")
	r.statuses("00", "completed")
	if status, withError := r.Status(); status != eventstream.Completed || withError || r.Last().ID() != "02" {
		t.Errorf("Status() = %v, %v, Last() = %s", status, withError, r.Last().ID())
	}
	r.refused(eventstream.ErrSuperseded, func() error { return r.Update(r.Event("01"), "tag", "x") })
	r.refused(eventstream.ErrSuperseded, func() error { _, err := r.Reopen(from(r, "01")); return err })
	r.refused(eventstream.ErrNothingToReopen, func() error { _, err := r.Reopen(nil); return err })
}

// TestReopen_JoinAndBranchFailed: the pick of the join is dropped, since the
// branch supersedes it.
func TestReopen_JoinAndBranchFailed(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.abort("01.00")
	r.complete("02.00")
	r.abort("01")
	r.statuses("00", "completed with error")
	r.retry(nil, "01.00")
	r.statuses("01", "superseded aborted")
	r.complete("01.00", "02")
	r.statuses("00", "completed")
}

func TestReopen_JoinFailed(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.complete("01.00", "02.00")
	r.abort("01")
	if status, withError := r.Status(); status != eventstream.Aborted || !withError {
		t.Errorf("Status() = %v, %v", status, withError)
	}
	r.retry(nil, "01")
	r.statuses("00", "inprocess", "01", "init")
	r.next("00", "01.00", "02.00", "01")
	r.complete("01")
	r.statuses("00", "completed")
}

// TestReopen_Nested has a failed branch two splits deep, and one of the outer
// split; everything that was joined above them is made anew.
func TestReopen_Nested(t *testing.T) {
	r := start(t)
	r.split("00", 3, joined())
	r.split("01.00", 2, joined())
	r.abort("01.01.00")
	r.complete("01.02.00", "01.01") // the inner join makes up for it
	r.abort("02.00")
	r.complete("03.00")
	r.split("01", 1, joined()) // the outer join splits, too
	r.abort("04.00", "02")
	r.statuses("00", "completed with error", "01.00", "completed with error", "01", "completed with error")
	r.retry(nil, "02.00", "01.01.00")
	r.statuses("00", "inprocess", "01.00", "inprocess", "01.02.00", "completed", "03.00", "completed",
		"01.01", "superseded completed", "01", "superseded completed with error", "04.00", "superseded aborted", "02", "superseded aborted")
	r.complete("02.00", "01.01.00")
	r.statuses("01.02", "init")
	r.complete("01.02")
	r.statuses("03", "init", "00", "inprocess")
	r.complete("03")
	r.statuses("00", "completed")
}

func TestReopen_Below(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	r.split("01.00", 2, joined())
	r.abort("01.01.00", "02.00")
	r.complete("01.02.00", "01.01", "01")
	r.refused(eventstream.ErrNothingToReopen, func() error { _, err := r.Reopen(below(r, "01.02.00")); return err })
	r.retry(below(r, "01.00"), "01.01.00")
	r.statuses("02.00", "aborted", "00", "inprocess", "01", "superseded completed")
	r.complete("01.01.00", "01.02", "02")
	r.statuses("00", "completed with error") // the other branch is as it was
	r.retry(below(r, "02.00"), "02.00")
}

// TestReopen_FailFast: what the policy canceled is opened with any pick below the
// aborted splitter.
func TestReopen_FailFast(t *testing.T) {
	open := func() *run {
		r := start(t)
		r.split("00", 4, &eventstream.SplitOptions{Join: "J", Policy: eventstream.FailFast})
		r.split("02.00", 2, joined())
		r.complete("04.00")
		r.edit(func() error { return r.Cancel(r.Event("02.02.00"), "alice", "no") })
		r.abort("01.00")
		r.statuses("00", "aborted", "02.00", "canceled", "02.01.00", "canceled", "02.02.00", "canceled", "03.00", "canceled", "04.00", "completed")
		return r
	}
	t.Run("all", func(t *testing.T) {
		r := open()
		r.retry(nil, "01.00", "03.00", "02.01.00", "02.02.00")
		r.statuses("00", "inprocess", "02.00", "inprocess", "04.00", "completed")
		r.complete("01.00", "03.00", "02.01.00", "02.02.00", "02.01", "01")
		r.statuses("00", "completed")
	})
	t.Run("below the one that failed", func(t *testing.T) {
		r := open()
		// 02.02.00 was canceled by a person and is not below.
		r.retry(below(r, "01.00"), "01.00", "03.00", "02.01.00")
		r.statuses("02.02.00", "canceled", "02.00", "inprocess")
	})
	t.Run("from a victim", func(t *testing.T) {
		r := open()
		// 01.00 still fails the split, so nothing would be won.
		r.refused(eventstream.ErrNothingToReopen, func() error { _, err := r.Reopen(from(r, "03.00")); return err })
	})
	t.Run("from the splitter", func(t *testing.T) {
		r := open()
		r.retry(from(r, "00"), "00")
		r.next("00")
		r.statuses("01.00", "superseded aborted", "02.01.00", "superseded canceled", "04.00", "superseded completed")
		if got := r.split("00", 1, nil); !slices.Equal(got, []string{"05.00"}) {
			t.Errorf("the second split made %v, want 05.00", got)
		}
	})
	t.Run("nested", func(t *testing.T) {
		r := start(t)
		r.split("00", 2, &eventstream.SplitOptions{Join: "J", Policy: eventstream.FailFast})
		r.split("01.00", 2, &eventstream.SplitOptions{Join: "J", Policy: eventstream.FailFast})
		r.abort("01.02.00")
		r.statuses("00", "aborted", "01.00", "aborted", "01.01.00", "canceled", "02.00", "canceled")
		r.retry(below(r, "01.00"), "02.00", "01.01.00", "01.02.00")
		r.statuses("00", "inprocess", "01.00", "inprocess")
	})
}

// TestReopen_FirstMet: branches that first:N did without are not missed.
func TestReopen_FirstMet(t *testing.T) {
	open := func() *run {
		r := start(t)
		r.split("00", 5, &eventstream.SplitOptions{Join: "J", Policy: eventstream.First(2)})
		r.abort("01.00")
		r.split("02.00", 2, joined())
		r.abort("02.01.00")
		r.complete("02.02.00", "02.01", "03.00")
		r.statuses("04.00", "canceled", "05.00", "canceled", "01", "init")
		return r
	}
	t.Run("join failed", func(t *testing.T) {
		r := open()
		r.abort("01")
		// 02.01.00 failed inside a branch that counts.
		r.retry(nil, "02.01.00")
		r.statuses("01", "superseded aborted", "01.00", "aborted", "04.00", "canceled", "03.00", "completed")
		r.complete("02.01.00", "02.02")
		r.statuses("02", "init")
	})
	t.Run("below the join", func(t *testing.T) {
		r := open()
		r.abort("01")
		r.retry(below(r, "01"), "01")
		r.statuses("04.00", "canceled", "00", "inprocess")
	})
	t.Run("from a branch that was canceled", func(t *testing.T) {
		r := open()
		r.refused(eventstream.ErrNothingToReopen, func() error { _, err := r.Reopen(from(r, "04.00")); return err })
	})
	t.Run("from a branch that counts", func(t *testing.T) {
		r := open()
		r.retry(from(r, "03.00"), "03.00")
		r.statuses("00", "inprocess", "01", "superseded canceled")
		r.complete("03.00")
		r.statuses("02", "init")
	})
	t.Run("impossible: the splitter itself runs again", func(t *testing.T) {
		r := start(t)
		r.split("00", 2, &eventstream.SplitOptions{Join: "J", Policy: eventstream.First(3)})
		r.statuses("00", "aborted", "01.00", "canceled")
		r.refused(eventstream.ErrNothingToReopen, func() error { _, err := r.Reopen(below(r, "01.00")); return err })
		r.retry(nil, "00")
		r.statuses("01.00", "superseded canceled", "02.00", "superseded canceled")
	})
	t.Run("impossible later: what failed runs again", func(t *testing.T) {
		r := start(t)
		r.split("00", 3, &eventstream.SplitOptions{Join: "J", Policy: eventstream.First(2)})
		r.abort("01.00", "02.00")
		r.statuses("00", "aborted", "03.00", "canceled")
		r.retry(nil, "01.00", "02.00", "03.00")
	})
}

func TestReopen_Tolerate(t *testing.T) {
	r := start(t)
	r.split("00", 4, &eventstream.SplitOptions{Join: "J", Policy: eventstream.Tolerate(1)})
	r.abort("01.00", "02.00")
	r.statuses("00", "aborted", "03.00", "canceled", "04.00", "canceled")
	r.retry(below(r, "01.00"), "01.00", "03.00", "04.00")
	r.statuses("00", "inprocess", "02.00", "aborted")
	r.complete("01.00", "03.00", "04.00")
	r.statuses("01", "init")
	r.complete("01")
	r.statuses("00", "completed with error")
	r.retry(nil, "02.00")
	r.complete("02.00", "02")
	r.statuses("00", "completed")
}

func TestReopen_CanceledRun(t *testing.T) {
	r := start(t)
	r.split("00", 3, joined())
	r.edit(func() error { _, err := r.Next(r.Event("01.00"), eventstream.NewEvent{Name: "N"}); return err })
	r.complete("02.00")
	r.edit(func() error { return r.Cancel(r.Root(), "alice", "stop") })
	if status, _ := r.Status(); status != eventstream.Canceled {
		t.Errorf("Status() = %v", status)
	}
	r.retry(nil, "03.00", "01.01")
	r.statuses("00", "inprocess", "01.00", "inprocess", "02.00", "completed")
	if by := r.Root().Attr("by"); by != "" || r.Root().Msg() != "" {
		t.Errorf("the root still says why it ended: %s", r.Root().XML())
	}
	r.complete("03.00", "01.01", "01")
	r.statuses("00", "completed")
}

func TestReopen_From(t *testing.T) {
	open := func() *run {
		r := start(t)
		r.split("00", 2, joined())
		r.split("01.00", 2, joined())
		r.complete("01.01.00", "01.02.00", "01.01", "02.00")
		r.edit(func() error { _, err := r.Next(r.Event("01"), eventstream.NewEvent{Name: "N"}); return err })
		r.edit(func() error { return r.Claim(r.Event("02"), "w") })
		return r
	}
	t.Run("a completed splitter", func(t *testing.T) {
		r := open()
		r.retry(from(r, "01.00"), "01.00")
		r.statuses("00", "inprocess", "01.01.00", "superseded completed", "01.02.00", "superseded completed",
			"01.01", "superseded completed", "01", "superseded canceled", "02", "superseded canceled", "02.00", "completed")
		if e := r.Event("01.00"); e.IsSplit() || e.Attr("join") != "" || e.Attr("next") != "" {
			t.Errorf("the splitter is %s", e.XML())
		}
		// Of a superseded event, its next stays as a record.
		if got := r.Event("01").Attr("next"); got != "02" {
			t.Errorf("next of the superseded join = %q", got)
		}
		if n := len(slices.Collect(r.Event("01").Next())); n != 0 {
			t.Errorf("the superseded join has %d live successors", n)
		}
		if r.ThreadLast("01.01") != nil || r.ThreadLast("01").ID() != "01.00" || r.ThreadLast("77") != nil {
			t.Errorf("ThreadLast(01.01) = %v, ThreadLast(01) = %v", r.ThreadLast("01.01"), r.ThreadLast("01"))
		}
		if n := len(slices.Collect(r.Replaced())); n != 5 {
			t.Errorf("%d superseded events, want 5", n)
		}
	})
	t.Run("a join", func(t *testing.T) {
		r := open()
		r.retry(from(r, "01.01"), "01.01")
		r.statuses("01.00", "inprocess", "01.01.00", "completed", "01", "superseded canceled", "02", "superseded canceled")
		r.next("01.00", "01.01.00", "01.02.00", "01.01")
		r.complete("01.01")
		r.statuses("03", "init")
	})
	t.Run("the root", func(t *testing.T) {
		r := open()
		r.retry(from(r, "00"), "00")
		if got := r.Progress(); got.Total != 1 || got.Init != 1 {
			t.Errorf("Progress() = %+v", got)
		}
		r.complete("00")
		r.statuses("00", "completed")
	})
	t.Run("an event that a worker handles", func(t *testing.T) {
		r := open()
		r.retry(from(r, "02"), "02")
		if _, err := r.Owned("02", "w", 1); !errors.Is(err, eventstream.ErrNotOwner) {
			t.Errorf("Owned = %v, want ErrNotOwner", err)
		}
	})
	t.Run("again and again", func(t *testing.T) {
		r := open()
		for _, join := range []string{"03", "04", "05"} {
			r.retry(from(r, "02.00"), "02.00")
			r.complete("02.00")
			r.statuses(join, "init")
		}
	})
}

func TestReopen_Refused(t *testing.T) {
	r := start(t)
	r.abort("00")
	other := start(t)
	r.refused(eventstream.ErrForeign, func() error { _, err := r.Reopen(from(other, "00")); return err })
	r.refused(eventstream.ErrForeign, func() error { _, err := r.Reopen(below(other, "00")); return err })
	r.refused(eventstream.ErrValue, func() error { _, err := r.Reopen(&eventstream.ReopenOptions{By: "\x00"}); return err })
}

// TestReopen_ClosedByHand: a splitter that a foreign hand canceled around finished
// branches is opened again, and gets its join.
func TestReopen_ClosedByHand(t *testing.T) {
	r := parse(t, `<EventStream><Event id="00" status="canceled" next="01.00" join="J"/><Event id="01.00" prev="00" status="completed"/></EventStream>`)
	r.retry(nil)
	r.statuses("00", "inprocess", "01", "init")
}

// TestReopen_InTheEditThatEnds: an edit may fail a run and open it again.
func TestReopen_InTheEditThatEnds(t *testing.T) {
	r := start(t)
	r.split("00", 2, joined())
	changes := r.edit(func() error {
		if err := r.Abort(r.Root(), "", ""); err != nil {
			return err
		}
		_, err := r.Reopen(nil)
		return err
	})
	if changes.Ended {
		t.Errorf("Changes = %+v, want not ended", changes)
	}
	r.statuses("00", "inprocess", "01.00", "init", "02.00", "init")
}
