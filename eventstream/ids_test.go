package eventstream_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

func TestCheckID(t *testing.T) {
	for _, id := range []string{"00", "01", "99", "100", "01.00", "01.02.00", "123456789.00", "00.00", "00" + strings.Repeat(".00", 64)} {
		if err := eventstream.CheckID(id); err != nil {
			t.Errorf("CheckID(%q) = %v, want nil", id, err)
		}
	}
	for _, id := range []string{"", "0", "000", "01.", ".01", "01..02", "01.2", "0x", "a", "01.00 ", "1234567890", "-1", "01/02", "00" + strings.Repeat(".00", 65)} {
		if err := eventstream.CheckID(id); !errors.Is(err, eventstream.ErrID) {
			t.Errorf("CheckID(%q) = %v, want ErrID", id, err)
		}
	}
}

func TestSplitID_JoinID(t *testing.T) {
	for id, want := range map[string]struct {
		thread string
		step   int
	}{
		"00": {"", 0}, "07": {"", 7}, "100": {"", 100}, "01.00": {"01", 0}, "01.02.99": {"01.02", 99}, "100.100": {"100", 100},
	} {
		thread, step := eventstream.SplitID(id)
		if thread != want.thread || step != want.step {
			t.Errorf("SplitID(%q) = %q, %d, want %q, %d", id, thread, step, want.thread, want.step)
		}
		if got := eventstream.JoinID(thread, step); got != id {
			t.Errorf("JoinID(%q, %d) = %q, want %q", thread, step, got, id)
		}
	}
}

func TestParseThread(t *testing.T) {
	for text, want := range map[string]string{"*": "", "01.*": "01", "01.02.*": "01.02", "100.*": "100"} {
		if got, ok := eventstream.ParseThread(text); !ok || got != want {
			t.Errorf("ParseThread(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "01", ".*", "1.*", "01*", "01.*.*", "x.*"} {
		if got, ok := eventstream.ParseThread(text); ok {
			t.Errorf("ParseThread(%q) = %q, want none", text, got)
		}
	}
}

func TestCompareIDs(t *testing.T) {
	want := []string{"00", "01", "01.00", "01.00.00", "01.01", "01.02.00", "01.100", "02.00", "10.00", "99.00", "100.00", "100.01"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, eventstream.CompareIDs)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v, want %v", got, want)
	}
	if c := eventstream.CompareIDs("01.00", "01.00"); c != 0 {
		t.Errorf("CompareIDs of the same = %d", c)
	}
}

// TestStream_WiderIDs goes on from 99 to 100 in steps and in threads.
func TestStream_WiderIDs(t *testing.T) {
	r := start(t)
	ids := r.split("00", 101, nil)
	if got := ids[98:]; !slices.Equal(got, []string{"99.00", "100.00", "101.00"}) {
		t.Errorf("the last branches are %v", got)
	}
	r = start(t)
	id := "00"
	for range 101 {
		r.edit(func() error {
			next, err := r.Next(r.Event(id), eventstream.NewEvent{Name: "N"})
			id = next.ID()
			return err
		})
	}
	if id != "101" || r.Last().ID() != "101" || r.Last().Step() != 101 || r.Last().Thread() != "" {
		t.Errorf("the last step is %s, Last() = %s", id, r.Last().ID())
	}
	r.complete(id)
	r.statuses("00", "completed", "50", "completed")
}

func TestAreDone(t *testing.T) {
	r := start(t)
	r.split("00", 3, nil)
	r.complete("01.00")
	r.abort("02.00")
	for _, test := range []struct {
		ids  []string
		want bool
	}{
		{nil, true}, {[]string{"01.00", "02.00"}, true}, {[]string{"01.00", "03.00"}, false}, {[]string{"00"}, false},
	} {
		if got, err := r.AreDone(test.ids...); got != test.want || err != nil {
			t.Errorf("AreDone(%v) = %v, %v, want %v", test.ids, got, err, test.want)
		}
	}
	if got, err := r.AreDone("03.00", "07.00"); got || !errors.Is(err, eventstream.ErrID) {
		t.Errorf("AreDone of an unknown id = %v, %v, want ErrID", got, err)
	}
}
