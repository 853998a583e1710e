package eventstream_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func TestNext_Refused(t *testing.T) {
	r := start(t)
	r.split("00", 1, nil)
	next := func(id string) func() error {
		return func() error { _, err := r.Next(r.Event(id), eventstream.NewEvent{Name: "N"}); return err }
	}
	r.refused(eventstream.ErrStatus, next("00")) // it has split
	r.edit(next("01.00"))
	r.refused(eventstream.ErrStatus, next("01.00")) // it has handed on
	r.complete("01.01")
	r.refused(eventstream.ErrFinal, next("01.00"))
	r.refused(eventstream.ErrFinal, func() error { _, err := r.Split(r.Root(), nil, nil); return err })
}

func TestSplit_IsOnce(t *testing.T) {
	r := start(t)
	r.split("00", 2, nil)
	r.refused(eventstream.ErrStatus, func() error {
		_, err := r.Split(r.Root(), []eventstream.NewEvent{{Name: "B"}}, nil)
		return err
	})
}

// TestSplit_SecondOfAThread goes on counting the branches.
func TestSplit_SecondOfAThread(t *testing.T) {
	r := start(t)
	r.split("00", 2, &eventstream.SplitOptions{Join: "J"})
	r.complete("01.00", "02.00")
	if got, want := r.split("01", 2, &eventstream.SplitOptions{Join: "K"}), []string{"03.00", "04.00"}; !slices.Equal(got, want) {
		t.Errorf("the join's split made %v, want %v", got, want)
	}
	r.complete("03.00", "04.00", "02")
	r.statuses("00", "completed", "01", "completed", "02", "completed")
	if status, withError := r.Status(); status != eventstream.Completed || withError {
		t.Errorf("Status() = %v, %v", status, withError)
	}
}

func TestSplit_ChosenNumbers(t *testing.T) {
	split := func(r *run, numbers ...int) ([]string, error) {
		var branches []eventstream.NewEvent
		for _, n := range numbers {
			branches = append(branches, eventstream.NewEvent{Name: "B", Branch: n})
		}
		var ids []string
		created, err := r.Split(r.Root(), branches, nil)
		for _, e := range created {
			ids = append(ids, e.ID())
		}
		return ids, err
	}
	for _, test := range []struct {
		numbers []int
		want    []string
	}{
		{[]int{2, 4}, []string{"02.00", "04.00"}},
		{[]int{4, 2, 0}, []string{"04.00", "02.00", "05.00"}},
		{[]int{100, 0}, []string{"100.00", "101.00"}},
		{[]int{0, 7, 0, 3}, []string{"01.00", "07.00", "08.00", "03.00"}},
	} {
		r := start(t)
		r.edit(func() error {
			got, err := split(r, test.numbers...)
			if !slices.Equal(got, test.want) {
				t.Errorf("Split with %v = %v, want %v", test.numbers, got, test.want)
			}
			return err
		})
	}
	for _, numbers := range [][]int{{2, 2}, {0, 1}, {-1}, {math.MaxInt32 + 1}} {
		r := start(t)
		r.refused(eventstream.ErrBranch, func() error { _, err := split(r, numbers...); return err })
	}
	r := start(t)
	r.refused(eventstream.ErrID, func() error { _, err := split(r, 1_000_000_000); return err })
}

// TestSplit_NumberOfASupersededThread becomes the next unused one, that of a live
// thread is refused.
func TestSplit_NumberOfASupersededThread(t *testing.T) {
	r := start(t)
	r.split("00", 3, nil)
	r.edit(func() error { _, err := r.Reopen(&eventstream.ReopenOptions{From: r.Root()}); return err })
	r.edit(func() error {
		created, err := r.Split(r.Root(), []eventstream.NewEvent{{Name: "B", Branch: 2}}, &eventstream.SplitOptions{Join: "J"})
		if created[0].ID() != "04.00" {
			t.Errorf("branch 2 became %s, want 04.00", created[0].ID())
		}
		return err
	})
	r.complete("04.00")
	r.refused(eventstream.ErrBranch, func() error {
		_, err := r.Split(r.Event("01"), []eventstream.NewEvent{{Name: "B", Branch: 4}}, nil)
		return err
	})
}

func TestSplit_DeepestThread(t *testing.T) {
	r := start(t)
	id := "00"
	for range 64 {
		id = r.split(id, 1, nil)[0]
	}
	if strings.Count(id, ".") != 64 {
		t.Fatalf("the deepest id is %s", id)
	}
	r.refused(eventstream.ErrID, func() error {
		_, err := r.Split(r.Event(id), []eventstream.NewEvent{{Name: "B"}}, nil)
		return err
	})
	r.complete(id)
	r.statuses("00", "completed")
}

// TestSplit_Undone: what is wrong with the last branch leaves nothing of the
// first.
func TestSplit_Undone(t *testing.T) {
	r := start(t)
	bad := map[string]struct {
		n    eventstream.NewEvent
		want error
	}{
		"name":      {eventstream.NewEvent{Name: "\x00"}, eventstream.ErrValue},
		"tracking":  {eventstream.NewEvent{TrackingID: "\xff"}, eventstream.ErrValue},
		"attribute": {eventstream.NewEvent{Attrs: []string{"a b", ""}}, eventstream.ErrValue},
		"odd":       {eventstream.NewEvent{Attrs: []string{"a"}}, eventstream.ErrValue},
		"status":    {eventstream.NewEvent{Attrs: []string{"status", "completed"}}, eventstream.ErrReadOnly},
		"id":        {eventstream.NewEvent{Attrs: []string{"id", "07"}}, eventstream.ErrReadOnly},
		"policy":    {eventstream.NewEvent{Attrs: []string{"policy", "none"}}, eventstream.ErrPolicy},
	}
	for name, test := range bad {
		t.Run(name, func(t *testing.T) {
			(&run{t, r.Stream, r.now}).refused(test.want, func() error {
				_, err := r.Split(r.Root(), []eventstream.NewEvent{{Name: "B"}, test.n}, &eventstream.SplitOptions{Join: "J"})
				return err
			})
		})
	}
	for _, policy := range []eventstream.Policy{eventstream.First(0), eventstream.First(-7), eventstream.Tolerate(-1), eventstream.ToleratePercent(101)} {
		r.refused(eventstream.ErrPolicy, func() error { _, err := r.Split(r.Root(), nil, &eventstream.SplitOptions{Policy: policy}); return err })
	}
	r.refused(eventstream.ErrReadOnly, func() error {
		_, err := r.Split(r.Root(), nil, &eventstream.SplitOptions{Attrs: []string{"next", "01"}})
		return err
	})
}

func TestSplit_Attributes(t *testing.T) {
	r := start(t)
	due := epoch.Add(time.Hour)
	r.edit(func() error { return r.Update(r.Root(), "trackingId", "t-1") })
	r.edit(func() error {
		_, err := r.Split(r.Root(), []eventstream.NewEvent{
			{Name: "B", Topic: "T", Input: eventstream.JSON([]byte("1")), Due: due, Attrs: []string{"tag", "x", "timeout", "30s"}},
			{Name: "B", TrackingID: "t-2"},
		}, &eventstream.SplitOptions{Join: "J", Policy: eventstream.Tolerate(1), Due: due, Attrs: []string{"tag", "y"}})
		return err
	})
	const now = "2026-11-30T07:33:53.000Z"
	want := `<Event id="01.00" name="B" topic="T" status="init" prev="00" trackingId="t-1" created="` + now + `" timestamp="` + now +
		`" due="2026-11-30T08:33:51.000Z" tag="x" timeout="30s"><Input>1</Input></Event>`
	if got := r.Event("01.00").XML(); got != want {
		t.Errorf("the first branch is\n%s\nwant\n%s", got, want)
	}
	for name, want := range map[string]string{
		"next": "01.00|02.00", "join": "J", "policy": "tolerate:1", "due": "2026-11-30T08:33:51.000Z", "tag": "y", "status": "inprocess",
	} {
		if got := r.Root().Attr(name); got != want {
			t.Errorf("%s of the splitter = %q, want %q", name, got, want)
		}
	}
	if got := r.Event("02.00").Attr("trackingId"); got != "t-2" {
		t.Errorf("trackingId = %q, want t-2", got)
	}
}

// TestSplit_Empty splits into no branches at all.
func TestSplit_Empty(t *testing.T) {
	for _, test := range []struct{ join, policy, want string }{
		{"J", "all", "inprocess"}, {"J", "failfast", "inprocess"}, {"J", "tolerate:0", "inprocess"},
		{"J", "tolerate:50%", "inprocess"}, {"J", "first:1", "aborted"},
		{"", "all", "completed"}, {"", "failfast", "completed"}, {"", "tolerate:1", "completed"},
		{"", "tolerate:100%", "completed"}, {"", "first:3", "aborted"},
	} {
		t.Run(test.policy+" "+test.join, func(t *testing.T) {
			r := start(t)
			policy, err := eventstream.ParsePolicy(test.policy)
			if err != nil {
				t.Fatal(err)
			}
			first := r.split("00", 1, nil)[0]
			r.split(first, 0, &eventstream.SplitOptions{Join: test.join, Policy: policy, Due: epoch.Add(time.Hour)})
			r.statuses(first, test.want)
			if test.want != "inprocess" {
				r.statuses("00", map[string]string{"completed": "completed", "aborted": "completed with error"}[test.want])
				return
			}
			r.statuses("00", "inprocess", "01.01", "init")
			if e := r.Event("01.01"); !e.IsJoin() || e.Prev().Attr("due") != "" {
				t.Errorf("the join %s of %s", e.XML(), e.Prev().XML())
			}
			r.complete("01.01")
			r.statuses("00", "completed", first, "completed")
		})
	}
}

// TestPolicy_Verdict ends branches one by one: o ended well, x failed. It checks
// the splitter, the branches that are open then, and whether a join was made.
func TestPolicy_Verdict(t *testing.T) {
	const waits, joins, aborts = "waits", "joins", "aborts"
	tests := []struct {
		policy   string
		branches int
		results  string
		want     string
	}{
		{"all", 2, "x", waits}, {"all", 2, "xx", joins}, {"all", 2, "ox", joins},
		{"failfast", 3, "oo", waits}, {"failfast", 3, "ox", aborts}, {"failfast", 3, "ooo", joins},
		{"first:2", 4, "o", waits}, {"first:2", 4, "oo", joins}, {"first:2", 4, "xxo", waits}, {"first:2", 4, "xxx", aborts},
		{"first:2", 4, "xxoo", joins}, {"first:2", 2, "ox", aborts}, {"first:3", 2, "", aborts}, {"first:2", 2, "", waits},
		{"tolerate:0", 2, "x", aborts}, {"tolerate:0", 2, "oo", joins},
		{"tolerate:1", 3, "x", waits}, {"tolerate:1", 3, "xox", aborts}, {"tolerate:1", 3, "xoo", joins},
		{"tolerate:50%", 3, "x", waits}, {"tolerate:50%", 3, "xx", aborts}, {"tolerate:50%", 4, "xx", waits},
		{"tolerate:34%", 3, "x", waits}, {"tolerate:33%", 3, "x", aborts}, {"tolerate:100%", 2, "xx", joins}, {"tolerate:0%", 1, "x", aborts},
	}
	for _, test := range tests {
		t.Run(test.policy+" "+test.results, func(t *testing.T) {
			policy, err := eventstream.ParsePolicy(test.policy)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t)
			ids := r.split("00", test.branches, &eventstream.SplitOptions{Join: "J", Policy: policy})
			var changes eventstream.Changes
			for i, result := range test.results {
				changes = r.edit(func() error {
					if result == 'x' {
						return r.Abort(r.Event(ids[i]), "", "broken")
					}
					return r.Complete(r.Event(ids[i]), nil)
				})
			}
			status, open := "inprocess", "init"
			switch test.want {
			case aborts:
				status, open = "aborted", "canceled"
			case joins:
				open = "canceled"
				if len(changes.Created) != 1 || !changes.Created[0].IsJoin() || changes.Created[0].Topic() != "J" {
					t.Errorf("the last result created %v, want the join", changes.Created)
				}
			}
			r.statuses("00", status)
			for _, id := range ids[len(test.results):] {
				r.statuses(id, open)
				if by := r.Event(id).Attr("by"); by != "" != (open == "canceled") {
					t.Errorf("by of %s = %q", id, by)
				}
			}
			if test.want != joins && r.Len() != 1+test.branches {
				t.Errorf("%d events, want no join", r.Len())
			}
			if test.want == aborts && (r.Root().Attr("by") != eventstream.ByPolicy || r.Root().Msg() == "") {
				t.Errorf("the splitter does not say why: %s", r.Root().XML())
			}
		})
	}
}

// TestResult_OfABranch: the last event of its thread counts, not its first.
func TestResult_OfABranch(t *testing.T) {
	r := start(t)
	ids := r.split("00", 4, &eventstream.SplitOptions{Join: "J"})
	// The first hands on, and the next step fails.
	r.edit(func() error { _, err := r.Next(r.Event(ids[0]), eventstream.NewEvent{Name: "N"}); return err })
	r.abort("01.01")
	r.statuses("01.00", "completed with error")
	// The second splits without a join; one of its branches fails.
	r.split("02.00", 2, nil)
	r.complete("02.01.00")
	r.abort("02.02.00")
	r.statuses("02.00", "completed with error")
	// The third splits, one of its branches fails, and its aggregator makes up for it.
	r.split("03.00", 2, &eventstream.SplitOptions{Join: "K"})
	r.abort("03.01.00", "03.02.00")
	r.edit(func() error { return r.Complete(r.Event("03.01"), eventstream.JSON([]byte(`"made up"`))) })
	r.statuses("03.00", "completed with error")
	r.complete("04.00")
	var got []string
	for result := range r.Results(r.Root()) {
		text := result.First.ID() + "→" + result.Last.ID()
		if result.Failed {
			text += " failed"
		}
		got = append(got, text)
	}
	want := []string{"01.00→01.01 failed", "02.00→02.00 failed", "03.00→03.01", "04.00→04.00"}
	if !slices.Equal(got, want) {
		t.Errorf("Results = %v, want %v", got, want)
	}
	if branches, ok, failed := r.Root().Tally(); branches != 4 || ok != 2 || failed != 2 {
		t.Errorf("Tally() = %d, %d, %d, want 4, 2, 2", branches, ok, failed)
	}
	for result := range r.Results(r.Root()) {
		if result.First.ID() != "01.00" {
			t.Errorf("a loop that ends goes on with %s", result.First.ID())
		}
		break
	}
	r.complete("01")
	r.statuses("00", "completed with error")
}

// TestPropagate_EarlyFailure: the article's rule looked at the event that ended
// last, which succeeded; an earlier one did not.
func TestPropagate_EarlyFailure(t *testing.T) {
	r := start(t)
	r.split("00", 2, nil)
	r.abort("01.00")
	r.complete("02.00")
	r.statuses("00", "completed with error")
}

func TestBatch_Counts(t *testing.T) {
	r := start(t)
	r.edit(func() error {
		batch := eventstream.NewEvent{Name: "Batch", Attrs: []string{"branches", "10"}}
		_, err := r.Split(r.Root(), []eventstream.NewEvent{batch, batch, {Name: "B"}}, &eventstream.SplitOptions{Join: "J", Policy: eventstream.Tolerate(3)})
		return err
	})
	tally := func(branches, ok, failed int) {
		t.Helper()
		if b, o, f := r.Root().Tally(); b != branches || o != ok || f != failed {
			t.Errorf("Tally() = %d, %d, %d, want %d, %d, %d", b, o, f, branches, ok, failed)
		}
	}
	tally(21, 0, 0)
	r.edit(func() error { return r.Update(r.Event("01.00"), "ok", "5", "failed", "2") })
	tally(21, 5, 2)
	// Completed: those that nobody reported ended well.
	r.edit(func() error { return r.Update(r.Event("01.00"), "ok", "5", "failed", "2", "status", "completed") })
	tally(21, 8, 2)
	r.statuses("00", "inprocess")
	// An open one tells of two failures more, and the policy is decided.
	changes := r.edit(func() error { return r.Update(r.Event("02.00"), "failed", "2") })
	r.statuses("00", "aborted", "02.00", "canceled", "03.00", "canceled")
	tally(21, 8, 2+10+1) // canceled: those that nobody reported failed
	if !changes.Ended {
		t.Errorf("Changes = %+v, want ended", changes)
	}
	// A retry picks the batch that completed with failures, too.
	r.edit(func() error {
		picks, err := r.Reopen(nil)
		if len(picks) != 3 {
			t.Errorf("Reopen picked %v", picks)
		}
		return err
	})
	r.statuses("00", "inprocess", "01.00", "init", "02.00", "init", "03.00", "init")
	tally(21, 0, 0)
	if got := r.Event("01.00").Attr("branches"); got != "10" {
		t.Errorf("branches = %q after the retry", got)
	}
}

func TestBatch_FirstIsMetByAnOpenOne(t *testing.T) {
	r := start(t)
	r.edit(func() error {
		batch := eventstream.NewEvent{Name: "Batch", Attrs: []string{"branches", "10"}}
		_, err := r.Split(r.Root(), []eventstream.NewEvent{batch, batch}, &eventstream.SplitOptions{Join: "J", Policy: eventstream.First(3)})
		return err
	})
	r.edit(func() error { return r.Claim(r.Event("02.00"), "w") })
	changes := r.edit(func() error { return r.Update(r.Event("01.00"), "ok", "3") })
	r.statuses("01.00", "canceled", "02.00", "canceled", "01", "init", "00", "inprocess")
	if !changes.Steered {
		t.Errorf("Changes = %+v, want steered: a worker has to stop", changes)
	}
}

// TestBatch_Huge adds up more branches than an int32 holds.
func TestBatch_Huge(t *testing.T) {
	r := start(t)
	r.edit(func() error {
		n := eventstream.NewEvent{Name: "Batch", Attrs: []string{"branches", "2147483647", "ok", "2147483647"}}
		_, err := r.Split(r.Root(), slices.Repeat([]eventstream.NewEvent{n}, 4), &eventstream.SplitOptions{Join: "J"})
		return err
	})
	if branches, ok, _ := r.Root().Tally(); branches != 4*math.MaxInt32 || ok != branches {
		t.Errorf("Tally() = %d, %d", branches, ok)
	}
}

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]eventstream.Policy{
		"": {}, "all": {}, "failfast": eventstream.FailFast, "first:3": eventstream.First(3), "tolerate:0": eventstream.Tolerate(0),
		"tolerate:7": eventstream.Tolerate(7), "tolerate:10%": eventstream.ToleratePercent(10), "tolerate:100%": eventstream.ToleratePercent(100),
	} {
		got, err := eventstream.ParsePolicy(text)
		if err != nil || got != want {
			t.Errorf("ParsePolicy(%q) = %v, %v, want %v", text, got, err, want)
		}
		if again, err := eventstream.ParsePolicy(got.String()); err != nil || again != want {
			t.Errorf("ParsePolicy(%q) = %v, %v, want %v", got, again, err, want)
		}
	}
	for _, text := range []string{"most", "first", "first:", "first:0", "first:-1", "first:1%", "first:x", "first:2147483648", "tolerate",
		"tolerate:-1", "tolerate:101%", "tolerate:%", "failfast:1", "all:1", "All", " all"} {
		if got, err := eventstream.ParsePolicy(text); !errors.Is(err, eventstream.ErrPolicy) {
			t.Errorf("ParsePolicy(%q) = %v, %v, want ErrPolicy", text, got, err)
		}
	}
}

func TestCloseSplit(t *testing.T) {
	due := epoch.Add(time.Minute)
	open := func(policy eventstream.Policy) *run {
		r := start(t)
		r.split("00", 3, &eventstream.SplitOptions{Join: "J", Policy: policy, Due: due})
		r.complete("01.00")
		r.edit(func() error { return r.Claim(r.Event("02.00"), "w") })
		return r
	}
	t.Run("all", func(t *testing.T) {
		r := open(eventstream.Policy{})
		if got := r.NextWake(); !got.Equal(due) {
			t.Errorf("NextWake() = %v, want %v", got, due)
		}
		changes := r.edit(func() error { return r.CloseSplit(r.Root(), eventstream.ByTimeout) })
		r.statuses("01.00", "completed", "02.00", "canceled", "03.00", "canceled", "01", "init", "00", "inprocess")
		if got := r.Event("03.00").Attr("by"); got != "timeout" || !changes.Steered || len(changes.Created) != 1 {
			t.Errorf("by = %q, %+v", got, changes)
		}
		if got := r.NextWake(); !got.IsZero() {
			t.Errorf("NextWake() = %v after the split was closed", got)
		}
		r.refused(eventstream.ErrStatus, func() error { return r.CloseSplit(r.Root(), "") })
	})
	t.Run("failfast judges", func(t *testing.T) {
		r := open(eventstream.FailFast)
		r.edit(func() error { return r.CloseSplit(r.Root(), eventstream.ByTimeout) })
		r.statuses("00", "aborted")
	})
	t.Run("tolerate judges", func(t *testing.T) {
		r := open(eventstream.Tolerate(2))
		r.edit(func() error { return r.CloseSplit(r.Root(), eventstream.ByTimeout) })
		r.statuses("00", "inprocess", "01", "init")
	})
	t.Run("the join is there in time", func(t *testing.T) {
		r := open(eventstream.Policy{})
		r.complete("02.00", "03.00")
		if got := r.NextWake(); !got.IsZero() || r.Root().Attr("due") != "" {
			t.Errorf("NextWake() = %v when the join is there", got)
		}
	})
	t.Run("no split", func(t *testing.T) {
		r := start(t)
		r.refused(eventstream.ErrStatus, func() error { return r.CloseSplit(r.Root(), "") })
	})
}

func TestUpdate_RejudgesTheSplit(t *testing.T) {
	r := start(t)
	r.split("00", 3, &eventstream.SplitOptions{Join: "J"})
	r.abort("01.00")
	r.edit(func() error { return r.Update(r.Root(), "policy", "tolerate:1") })
	r.statuses("00", "inprocess")
	r.edit(func() error { return r.Remove(r.Root(), "policy") })
	r.edit(func() error { return r.Update(r.Root(), "policy", "failfast") })
	r.statuses("00", "aborted", "02.00", "canceled", "03.00", "canceled")
}
