package scope

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

func TestCommits_RoundTrip(t *testing.T) {
	entries := []commitEntry{{"w1", 18, 1796000000}, {"w2", 4, 1796000001}}
	text := formatCommits(entries)
	if want := "w1:18:1796000000 w2:4:1796000001"; text != want {
		t.Errorf("formatCommits() = %q, want %q", text, want)
	}
	if got := parseCommits(text); !slices.Equal(got, entries) {
		t.Errorf("parseCommits() = %v, want %v", got, entries)
	}
	for _, bad := range []string{"", "w1", "w1:x:1", "w1:1:x", "a:b:c:d", " : : "} {
		if got := parseCommits(bad + " w2:4:7"); !slices.Equal(got, []commitEntry{{"w2", 4, 7}}) {
			t.Errorf("parseCommits(%q w2:4:7) = %v, want the good one", bad, got)
		}
	}
}

func FuzzParseCommits(f *testing.F) {
	f.Add("w1:18:1796000000 w2:4:1796000001")
	f.Add(": :: a:1 a:1:2:3")
	f.Fuzz(func(t *testing.T, text string) {
		entries := parseCommits(text)
		if again := parseCommits(formatCommits(entries)); !slices.Equal(again, entries) {
			t.Errorf("parse, format, parse = %v, want %v", again, entries)
		}
	})
}

func TestWithCommit_DropsTheOld(t *testing.T) {
	const now = 1796000000
	var entries []commitEntry
	for i := range 100 {
		entries = append(entries, commitEntry{fmt.Sprint("w", i), 1, now - int64(i)*60})
	}
	kept := withCommit(entries, commitEntry{"w50", 2, now})
	if kept[0] != (commitEntry{"w50", 2, now}) || numberOf(kept, "w50") != 2 {
		t.Errorf("first entry = %v, want our own, brought up to date", kept[0])
	}
	for i := range 100 {
		writer := fmt.Sprint("w", i)
		if got, want := numberOf(kept, writer) > 0, i < 60; got != want {
			t.Errorf("entry of %d minutes ago kept: %t, want %t", i, got, want)
		}
	}
	for i := range entries {
		entries[i].at = now - int64(i)
	}
	kept = withCommit(entries, commitEntry{"new", 1, now})
	if len(kept) != maxCommits || kept[1].writer != "w0" || kept[maxCommits-1].writer != fmt.Sprint("w", maxCommits-2) {
		t.Errorf("%d entries from %s to %s, want our own and the 63 newest", len(kept), kept[1].writer, kept[len(kept)-1].writer)
	}
}

func TestFindCommit(t *testing.T) {
	const now = 1796000000
	many := make([]string, maxCommits)
	for i := range many {
		many[i] = fmt.Sprintf("m%d:1:%d", i, now)
	}
	for _, test := range []struct {
		name   string
		before string
		found  map[string]string
		want   finding
	}{
		{"ours is there", "", map[string]string{"run": "r", "commits": "us:7:1"}, present},
		{"ours is there, among others", "a:1:1", map[string]string{"run": "r", "commits": "a:2:9 us:7:1"}, present},
		{"our commit before", "us:6:1", map[string]string{"run": "r", "commits": "a:1:9 us:6:1"}, absent},
		{"our first commit, and another came first", "", map[string]string{"run": "r", "commits": "a:1:9"}, absent},
		{"our entry is gone", fmt.Sprint("us:6:", now), map[string]string{"run": "r", "commits": "a:1:9"}, ambiguous},
		{"another's entry is gone", fmt.Sprint("b:6:", now), map[string]string{"run": "r", "commits": "a:1:9"}, ambiguous},
		{"another's old entry is gone", fmt.Sprint("b:6:", now-3500), map[string]string{"run": "r", "commits": "a:1:9"}, absent},
		{"so many that ours may have been dropped", "", map[string]string{"run": "r", "commits": strings.Join(many, " ")}, ambiguous},
		{"no entries", "", map[string]string{"run": "r"}, ambiguous},
		{"no metadata", "", nil, ambiguous},
		{"another run", "", map[string]string{"run": "q", "commits": "us:7:1"}, ambiguous},
	} {
		p := &pending{before: parseCommits(test.before), own: commitEntry{"us", 7, now}, meta: map[string]string{"run": "r"}}
		if got := findCommit(test.found, p); got != test.want {
			t.Errorf("%s: findCommit() = %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNextCommit_GoesOnFromAnEarlierLife(t *testing.T) {
	s := &Scope{set: settings{writer: "w1"}, clock: newClock(true)}
	for i, want := range []int64{19, 20, 21} {
		if got := s.nextCommit([]commitEntry{{"w1", 18, 1}}); got.number != want || got.writer != "w1" {
			t.Errorf("commit %d = %v, want number %d", i, got, want)
		}
	}
}

// Every name that a summary can have must be known as ours, or a value that is
// gone from the document would stand for ever.
func TestMetadata_KnowsAllOfTheSummary(t *testing.T) {
	var full eventstream.Summary
	for i, v := 0, reflect.ValueOf(&full).Elem(); i < v.NumField(); i++ {
		switch f := v.Field(i); f.Interface().(type) {
		case string:
			f.SetString("x")
		case bool:
			f.SetBool(true)
		case int:
			f.SetInt(1)
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(1, 0)))
		case map[string]int:
			f.Set(reflect.ValueOf(map[string]int{"x": 1}))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"x": "1"}))
		}
	}
	for name := range full.Metadata() {
		if !summaryKeys[name] {
			t.Errorf("summaryKeys lacks %q", name)
		}
	}
	if len(full.Metadata()) != len(summaryKeys) {
		t.Errorf("a full summary has %d names, summaryKeys %d", len(full.Metadata()), len(summaryKeys))
	}
}

func TestMetadata(t *testing.T) {
	summary := eventstream.Summary{Run: "r", Updated: time.Unix(1796000000, 0)}
	entries := []commitEntry{{"w1", 1, 2}}
	for _, test := range []struct {
		name   string
		before map[string]string
		want   map[string]string // "" must be missing
	}{
		{"ours are made anew", map[string]string{"paused": "true", "run": "old", "due": "x", "steer": "4"},
			map[string]string{"paused": "", "run": "r", "due": "", "steer": "6", "commits": "w1:1:2"}},
		{"those of others stay", map[string]string{"owner": "someone", "steer": "0"},
			map[string]string{"owner": "someone", "steer": "2"}},
		{"a count that was lost goes on elsewhere", map[string]string{},
			map[string]string{"steer": "1796000002"}},
		{"so does one that cannot be read", map[string]string{"steer": "many"},
			map[string]string{"steer": "1796000002"}},
	} {
		got, err := metadata(test.before, summary, 2, entries)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range test.want {
			if got[name] != want {
				t.Errorf("%s: %s = %q, want %q", test.name, name, got[name], want)
			}
		}
	}
}

func TestMetadata_FitsIntoWhatAStoreTakes(t *testing.T) {
	counts := map[string]int{}
	for i := range 60 {
		counts[fmt.Sprintf("Schritt %d größer", i)] = i
	}
	summary := eventstream.Summary{Ready: counts, Running: counts}
	before := map[string]string{"theirs": strings.Repeat("x", 4000)}
	meta, err := metadata(before, summary, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if meta["ready"] != tooManySteps || meta["theirs"] == "" || metadataSize(meta) > maxMetadata {
		t.Errorf("ready = %q in %d bytes, want %q and what others put there", meta["ready"], metadataSize(meta), tooManySteps)
	}
	if sum, ok := eventstream.ParseSummary(meta); !ok || sum.Ready != nil {
		t.Errorf("ParseSummary() = %v, %t; want counts that are not known", sum.Ready, ok)
	}
	before = maps.Clone(before)
	before["more"] = strings.Repeat("x", 5000)
	if _, err := metadata(before, summary, 0, nil); err == nil || !strings.Contains(err.Error(), store.ErrTooLarge.Error()) {
		t.Errorf("metadata() with 9 KB of others = %v, want too large", err)
	}
}

// The longest that we write of everything leaves room for what others put there.
func TestMetadata_OfOursFitInAnyCase(t *testing.T) {
	tags, counts := map[string]string{}, map[string]int{}
	for i := range eventstream.MaxTags {
		tags[fmt.Sprintf("k%02d", i)] = strings.Repeat("x", 123)
		counts[fmt.Sprint(i, strings.Repeat("ß", 20))] = 1_000_000
	}
	if err := eventstream.CheckTags(tags); err != nil {
		t.Fatal(err)
	}
	hash, at := "sha256:"+strings.Repeat("f", 64), time.Now()
	summary := eventstream.Summary{
		Run: strings.Repeat("r", 12), Pipeline: strings.Repeat("p", 200), Definition: hash, Input: hash,
		WithError: true, Paused: true, Done: 1e6, Total: 1e6, OK: 1e6, Failed: 1e6, Ready: counts, Running: counts,
		Due: at, Deadline: at, Created: at, Updated: at, Tags: tags,
	}
	var entries []commitEntry
	for range maxCommits {
		entries = append(entries, commitEntry{(&Options{}).writer(), 1e9, at.Unix()})
	}
	meta, err := metadata(map[string]string{"theirs": strings.Repeat("x", 2000)}, summary, 0, entries)
	if err != nil || meta["tags"] == "" {
		t.Fatalf("metadata() = %v, %v, want all but the counts", meta, err)
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{waits: waits{min: time.Millisecond, max: 8 * time.Millisecond}}
	for i, top := range []time.Duration{2, 4, 8, 8, 8} {
		for range 100 {
			c := b
			if d := c.next(); d < time.Millisecond || d > top*time.Millisecond {
				t.Fatalf("pause %d = %v, want 1ms to %dms", i, d, top)
			}
		}
		b.next()
	}
	flat := backoff{waits: articleWait}
	for range 100 {
		if d := flat.next(); d < 750*time.Millisecond || d > 2500*time.Millisecond {
			t.Fatalf("article's pause = %v", d)
		}
	}
	none := backoff{}
	if d := none.next(); d != 0 {
		t.Errorf("pause without bounds = %v, want 0", d)
	}
}

func TestSettings_WriterHasNoSeparators(t *testing.T) {
	if got := (&Options{Writer: "host 1:7"}).settings(true).writer; got != "host+1%3A7" {
		t.Errorf("writer = %q, want no blank and no colon", got)
	}
	one, two := (&Options{}).settings(true).writer, (*Options)(nil).settings(true).writer
	if one == two || len(one) != 10 {
		t.Errorf("random writers %q and %q, want two of 10 letters", one, two)
	}
}
