package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
)

const (
	manyEvents = 50_000
	maxPage    = 500_000 // bytes
)

// putMany starts a run whose split has n branches, as a worker would leave it.
func (w *world) putMany(name string, n int) {
	w.t.Helper()
	s, err := eventstream.Parse([]byte(wideDocument(n)))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.p.Scope().Create(w.t.Context(), processor.BlobOf(name), s); err != nil {
		w.t.Fatal(err)
	}
}

// How long it takes is told, since machines differ; how much and what is held.
func TestManyEvents(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.putMany("wide", manyEvents-1)
	for _, test := range []struct {
		path  string
		texts []string
	}{
		{"/", []string{"49,998/50,000"}},
		{"/runs/wide", []string{"49,998 of 50,000 events", "<b>44,998</b> × B", "<b>4,980</b> × B", "5,000 events failed"}},
		{"/runs/wide?open=00", []string{"Page 1 of 200"}},
		{"/runs/wide?open=00&page=200", []string{"Page 200 of 200", "49999.00"}},
		{"/runs/wide/timeline", []string{"44,998/49,999", "at most"}},
		{"/runs/wide/events", []string{"50,000 events"}},
		{"/runs/wide/events?state=failed&page=50", []string{"5,000 events", "49994.00"}},
		{"/runs/wide/events/00", []string{"49,998 of 49,999 branches done", "… and 49,949 more"}},
		{"/runs/wide/events/49999.00", []string{"r1/49999.00"}},
		{"/runs/wide/query?xpath=./Event[@status='aborted']", []string{"5,000 nodes, the first 100 of them"}},
		{"/runs/wide/xml", []string{"first 64 KiB"}},
		{"/runs/wide/json", []string{"The first 64 KiB are shown"}},
		{"/runs/wide/do/cancel", []string{"2 events canceled"}},
		{"/runs/wide/do/retry", []string{"5,000 events to be worked on"}},
	} {
		began := time.Now()
		a := w.get(test.path)
		t.Logf("%8.1f ms %7d bytes %s", float64(time.Since(began).Microseconds())/1000, len(a.body), test.path)
		if a.StatusCode != http.StatusOK || len(a.body) > maxPage {
			t.Errorf("GET %s = %d, %d bytes, want 200 and at most %d", test.path, a.StatusCode, len(a.body), maxPage)
		}
		for _, text := range test.texts {
			if !strings.Contains(a.body, text) {
				t.Errorf("GET %s has no %q: %.1500s", test.path, text, mainOf(a.body))
			}
		}
	}
}

// What changed in a run of many events is told without reading them.
func TestManyEvents_Live(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.putMany("wide", manyEvents-1)
	lines := w.follow(w.serve(), "/live/run?of=wide")
	event(t, lines)
	event(t, lines)
	if err := w.p.Pause(t.Context(), "wide", "", "ada", ""); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if name, data := event(t, lines); name != "part" || !strings.Contains(data, "Paused") {
		t.Errorf("event %s: %s, want the part of the page that says paused", name, data)
	}
	t.Logf("%.1f ms after the edit was durable", float64(time.Since(began).Microseconds())/1000)
}
