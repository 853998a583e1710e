package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/dashboard"
)

// A split over a thousand branches is divided over child streams, and is one run to
// who looks at it.
func TestWide(t *testing.T) {
	const branches = 1002
	w := newWorld(t, dashboard.Options{})
	stop := w.work()
	w.toApproval("wide", branches)
	stop()
	var batches []string
	for e := range w.stream("wide").Batches() {
		batches = append(batches, e.ID())
	}
	if len(batches) < 2 {
		t.Fatalf("the run has batches %q, want the split divided", batches)
	}
	first := batches[0]
	w.wantPage("/", "1,002/1,005", "334 failed")
	w.wantPage("/runs/wide",
		"1,002 of 1,005 events", "334 events failed", `href="/runs/wide/events/`+first+`%2F02.00"`, "no price for it",
		"× Price", "1,002 of 1,002 branches done")
	w.wantPage("/runs/wide?open="+first, "collapse", "Page 1 of")
	w.wantPage("/runs/wide/events", "1,005 events")
	w.wantPage("/runs/wide/events?state=failed", "334 events")
	w.wantPage("/runs/wide/events?state=failed&under=00", "334 events")
	w.wantPage("/runs/wide/timeline", "668/1,002")
	w.wantPage("/runs/wide/events/"+first, "in a child stream")
	w.wantPage("/runs/wide/events/"+first+"%2F02.00", "no price for it", `href="/runs/wide/events/`+first+`"`, w.stream("wide").Run()+"/"+first+"/02.00")
	w.wantPage("/runs/wide/query?xpath=./Event[@status='aborted']", "334 nodes")
	w.wantPage("/runs/wide/query?xpath=count(./Event)", "wide: ", first+": ")
	w.wantPage("/runs/wide/xml", "Child streams:", `href="/runs/wide/xml?in=`+first+`"`)
	w.wantPage("/runs/wide/xml?in="+first, "The run's own document")
	w.wantPage("/runs/wide/do/cancel", "a run of 1,005 events in", "of which 3 have not ended")
	if a := w.get("/runs/wide/xml?in=07"); a.StatusCode != http.StatusNotFound {
		t.Errorf("GET the document of no child = %d, want 404", a.StatusCode)
	}
	// Links lead to the branches that they count.
	body := w.page("/runs/wide")
	for link := range strings.SplitSeq(body, `class="group" href="`) {
		if path, rest, ok := strings.Cut(link, `"`); ok && strings.HasPrefix(path, "/runs/wide/events") {
			_, rest, _ = strings.Cut(rest, "<b>")
			count, _, _ := strings.Cut(rest, "</b>")
			if page := w.page(strings.ReplaceAll(path, "&amp;", "&")); !strings.Contains(page, " events</span>") || strings.Contains(page, ">0 events<") {
				t.Errorf("the link of %s branches, %s, leads to none", count, path)
			}
		}
	}
	for path, want := range map[string]string{
		"/runs/wide/download/json":                              `"id":"` + first + `/02.00"`,
		"/runs/wide/download/xml?in=" + first:                   `id="02.00"`,
		"/runs/wide/download/input?event=" + first + "%2F02.00": "1",
		"/runs/wide/download/xml":                               `child="`,
	} {
		if a := w.get(path); a.StatusCode != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("GET %s = %d without %q", path, a.StatusCode, want)
		}
	}
	// What is done to an event of a child stream is done there, and is seen.
	at := first + "/02.00"
	if got := w.submit("/runs/wide/do/rerun", "at", at, "value", "30"); got != "/runs/wide/events/"+first+"%2F02.00?done=rerun" {
		t.Errorf("rerun leads to %s, want the event", got)
	}
	w.work()
	w.until("wide", func(s *eventstream.Stream) bool { return s.Last().Name() == "Approve" && s.Last().Waiting() })
	_, e, err := w.p.Event(t.Context(), "wide", at)
	if err != nil || e.Status() != eventstream.Completed {
		t.Fatalf("event %s: %v, %v, want it completed", at, e.Status(), err)
	}
	w.wantPage("/runs/wide/events/"+first+"%2F02.00", "3000", "attempt 2")
}
