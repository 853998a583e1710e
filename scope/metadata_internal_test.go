package scope

import (
	"reflect"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// What the summary says must take the place of what an earlier one said: metadata
// that are not known to be ours would stay as they were for good.
func TestMetadata_NothingOfTheSummaryStays(t *testing.T) {
	now := time.Date(2026, 11, 30, 7, 33, 51, 0, time.UTC)
	one := map[string]int{"A": 1}
	full := eventstream.Summary{
		Run: "r", Pipeline: "p", Definition: "d", Input: "i", Status: eventstream.Completed, WithError: true,
		Done: 1, Total: 1, OK: 1, Failed: 1, Batches: 1, BatchesDone: 1, Ready: one, Running: one, Limits: one,
		Due: now, Deadline: now, Paused: true, Created: now, Updated: now, Tags: map[string]string{"a": "b"},
	}
	for i := range reflect.TypeFor[eventstream.Summary]().NumField() {
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("the summary of this test lacks %s", reflect.TypeFor[eventstream.Summary]().Field(i).Name)
		}
	}
	meta, err := metadata(full.Metadata(), eventstream.Summary{}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := eventstream.Summary{}.Metadata()
	for name := range full.Metadata() {
		if meta[name] != want[name] {
			t.Errorf("metadata %s = %q after an empty summary, want %q", name, meta[name], want[name])
		}
	}
}
