package dashboard

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return begin.Add(d) }

func TestAxis_Busy(t *testing.T) {
	a := axis{at(0), at(200 * time.Second)} // a second for each part
	for _, test := range []struct {
		name  string
		spans []span
		most  int
		parts map[int]int
	}{
		{"none", nil, 0, map[int]int{0: 0, 199: 0}},
		{"one after the other in the same part", []span{{at(time.Second), at(1300 * time.Millisecond)}, {at(1300 * time.Millisecond), at(1600 * time.Millisecond)}}, 1, map[int]int{0: 0, 1: 1, 2: 0}},
		{"at the same time", []span{{at(time.Second), at(3 * time.Second)}, {at(2 * time.Second), at(5 * time.Second)}}, 2, map[int]int{1: 1, 2: 2, 4: 1, 6: 0}},
		{"in no time", []span{{at(time.Second), at(time.Second)}}, 1, map[int]int{0: 0, 1: 1, 2: 0}},
		{"still worked on", []span{{at(190 * time.Second), time.Time{}}}, 1, map[int]int{189: 0, 190: 1, 199: 1}},
		{"of clocks that disagree", []span{{at(50 * time.Second), at(40 * time.Second)}, {at(-time.Hour), at(time.Hour)}}, 2, map[int]int{0: 1, 40: 1, 199: 1}},
	} {
		busy := a.busy(test.spans)
		if got := slices.Max(busy); got != test.most {
			t.Errorf("%s: at most %d, want %d", test.name, got, test.most)
		}
		for part, want := range test.parts {
			if busy[part] != want {
				t.Errorf("%s: %d in part %d, want %d", test.name, busy[part], part, want)
			}
		}
	}
}

func TestAxis_Ticks(t *testing.T) {
	for span, want := range map[time.Duration]string{
		time.Millisecond:       "+0 ms +1 ms",
		10 * time.Second:       "+0 ms +2.0 s +4.0 s +6.0 s +8.0 s +10 s",
		59 * time.Second:       "+0 ms +10 s +20 s +30 s +40 s +50 s",
		10 * time.Minute:       "+0 ms +2 min 00 s +4 min 00 s +6 min 00 s +8 min 00 s +10 min 00 s",
		20 * 24 * time.Hour:    "+0 ms +4 d 00 h +8 d 00 h +12 d 00 h +16 d 00 h +20 d 00 h",
		333*24*time.Hour + 123: "+0 ms +56 d 00 h +112 d 00 h +168 d 00 h +224 d 00 h +280 d 00 h",
	} {
		var got []string
		for _, tick := range (axis{at(0), at(span)}).ticks() {
			got = append(got, tick.At)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("ticks of %v: %s, want %s", span, text, want)
		}
	}
}

func TestShownSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 999 * time.Millisecond: "999 ms", 1500 * time.Millisecond: "1.5 s", 61 * time.Second: "1 min 01 s",
		time.Hour + 5*time.Minute: "1 h 05 min", 49 * time.Hour: "2 d 01 h",
	} {
		if got := shownSpan(d); got != want {
			t.Errorf("shownSpan(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestShownCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := shownCount(n); got != want {
			t.Errorf("shownCount(%d) = %q, want %q", n, got, want)
		}
	}
}
