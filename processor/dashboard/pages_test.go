package dashboard_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/dashboard"
)

// wantPage checks that a page comes to have all of some texts: listings may be a
// moment old.
func (w *world) wantPage(path string, texts ...string) {
	w.t.Helper()
	var body string
	for range 200 {
		body = w.page(path)
		if hasAll(body, texts) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			w.t.Errorf("GET %s has no %q: %.3000s", path, text, mainOf(body))
		}
	}
}

func hasAll(body string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) })
}

func TestPages(t *testing.T) {
	w := newWorld(t, dashboard.Options{
		Title: "sqlite:orders.db",
		Describe: func([]byte) (*dashboard.Graph, error) {
			return &dashboard.Graph{Steps: []dashboard.GraphStep{
				{Name: "Order", Edges: []dashboard.GraphEdge{{To: "Price", Kind: dashboard.EdgeSplit}, {To: "Total", Kind: dashboard.EdgeJoin}}},
				{Name: "Price", Kind: "exec", Text: "sh price.sh"}, {Name: "Total"},
			}}, nil
		},
	})
	w.work()
	w.toApproval("shop-1", 7)
	for _, test := range []struct {
		path  string
		texts []string
	}{
		{"/", []string{"sqlite:orders.db", `href="/runs/shop-1"`, "Running", "7/10", "2 failed", `href="/?state=running"`}},
		{"/runs/shop-1", []string{"7 of 10 events", "for someone outside to complete", "2 events failed", "no price for it", "7 of 7 branches done", "× Price", "show all branches"}},
		{"/runs/shop-1?open=00", []string{`href="/runs/shop-1/events/01.00"`, "collapse"}},
		{"/runs/shop-1/timeline", []string{"At work over time", `class="over-time"`, "02.00"}},
		{"/runs/shop-1/events?state=failed", []string{"2 events", "02.00", "no price for it"}},
		{"/runs/shop-1/events?step=Price&q=01.00", []string{"1 event<"}},
		{"/runs/shop-1/events/02.00", []string{"Idempotency key", w.stream("shop-1").Run() + "/02.00", "Attempt 1", "no price for it", "worker-1", "Retry from here"}},
		{"/runs/shop-1/events/02", []string{"Why it is waiting", "It waits for someone outside to complete it.", "Complete"}},
		{"/runs/shop-1/query?xpath=./Event[@status='aborted']", []string{"2 nodes", "02.00"}},
		{"/runs/shop-1/query?xpath=count(./Event)", []string{">10\n</pre>"}},
		{"/runs/shop-1/query?xpath=./Event[", []string{"invalid xpath"}},
		{"/runs/shop-1/xml", []string{"&lt;EventStream name=&#34;shop-1&#34;", "Download all of it"}},
		{"/runs/shop-1/json", []string{"&#34;pipeline&#34;:&#34;shop&#34;"}},
		{"/runs/shop-1/do/cancel", []string{"Cancel run shop-1?", "3 events canceled", "Cancel the run"}},
		{"/runs/shop-1/do/skip?at=02", []string{"Skip event", "3 events completed"}},
		{"/runs/shop-1/do/complete?at=00", []string{"It cannot be done now"}},
		{"/runs/shop-1/do/retry", []string{"2 events to be worked on", "2 events replaced"}},
		{"/runs/shop-1/do/rerun?at=01.00", []string{"Retry from here event", "1 event to be worked on", "New input"}},
		{"/pipelines", []string{"shop", `href="/runs/shop-1"`}},
		{"/workers", []string{"worker-1", "1</b> live", "of 4 slots", "Order, Price, Total, Approve"}},
		{"/leases", []string{"workers/worker-1", "locks/sweep", "leased"}},
		{"/leases/break?blob=workers/worker-1", []string{"Break the lease of", "It ends at once"}},
		{"/bulk/cancel?pipeline=shop", []string{"Cancel 1 run?", "shop-1"}},
		{"/bulk/purge", []string{"None of the runs that match"}},
	} {
		w.wantPage(test.path, test.texts...)
	}
	pipeline := "/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:")
	w.wantPage(pipeline+"?from=shop-1", ">7</textarea>", "worker-1", `class="graph"`, "exec sh price.sh", "join", "Steps: Order, split Price, join Total; Price; Total")
}

func TestPages_Prefix(t *testing.T) {
	w := newWorld(t, dashboard.Options{Prefix: "/ops/flows"})
	w.start("shop-1", 2)
	body := w.page("/ops/flows/")
	for attribute := range strings.SplitSeq(body, `href="/`) {
		path, _, _ := strings.Cut(attribute, `"`)
		if strings.HasPrefix(path, "<!doctype") {
			continue
		}
		if !strings.HasPrefix(path, "ops/flows") {
			t.Errorf("a link leads to /%s, want it below the prefix", path)
		}
		if a := w.get("/" + strings.ReplaceAll(path, "&amp;", "&")); a.StatusCode != http.StatusOK {
			t.Errorf("GET /%s = %d, want 200", path, a.StatusCode)
		}
	}
	if a := w.get("/"); a.StatusCode != http.StatusNotFound {
		t.Errorf("GET / = %d, want 404 outside of the prefix", a.StatusCode)
	}
}

func TestPages_NotThere(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	w.put("streams/broken.xml", "<EventStream>")
	for path, want := range map[string]int{
		"/runs/none": 404, "/runs/.hidden": 404, "/runs/shop-1/events/07": 404, "/runs/shop-1/events/x": 404,
		"/runs/shop-1/do/explode": 404, "/runs/shop-1/do/cancel?at=07": 404, "/pipelines/00": 404, "/bulk/explode": 404,
		"/runs/shop-1/download/output?event=00": 404, "/runs/shop-1/download/other?event=00": 404, "/assets/none.js": 404,
		"/assets/..%2fdoc.go": 404, "/live/none": 404, "/runs/broken": 422, "/leases/break?blob=none": 409,
	} {
		if a := w.get(path); a.StatusCode != want {
			t.Errorf("GET %s = %d, want %d", path, a.StatusCode, want)
		}
	}
	// What cannot be read is listed, and can be had as it lies there.
	w.wantPage("/?state=unreadable", "broken", "malformed event-stream")
	if a := w.get("/runs/broken/download/xml"); a.body != "<EventStream>" {
		t.Errorf("download = %q, want the document as it is", a.body)
	}
}

func TestRuns_FilterSortPage(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	for i := range 120 {
		w.put(fmt.Sprintf("streams/run-%03d.xml", i), fmt.Sprintf(
			`<EventStream name="run-%03d" run="r" pipeline="p%d"><Event id="00" name="A" status="completed" created="2026-01-01T00:%02d:%02dZ" timestamp="2026-01-01T01:00:00Z"/></EventStream>`,
			i, i%2, i/60, i%60))
	}
	names := func(path string) []string {
		var names []string
		for row := range strings.SplitSeq(w.page(path), `<th scope="row"><a href="/runs/`) {
			if name, _, ok := strings.Cut(row, `"`); ok && strings.HasPrefix(name, "run-") {
				names = append(names, name)
			}
		}
		return names
	}
	for path, want := range map[string]string{
		"/":                           "50 from run-119", // the newest first
		"/?page=3":                    "20 from run-019",
		"/?page=99":                   "20 from run-019",
		"/?sort=name":                 "50 from run-000",
		"/?sort=-name":                "50 from run-119",
		"/?sort=created&pipeline=p1":  "50 from run-001",
		"/?q=RUN-11&sort=name":        "10 from run-110",
		"/?state=completed&sort=name": "50 from run-000",
		"/?state=aborted":             "0 from ",
		"/?age=1h":                    "0 from ",
	} {
		list := names(path)
		got := fmt.Sprintf("%d from %s", len(list), strings.Join(list[:min(1, len(list))], ""))
		if got != want {
			t.Errorf("GET %s lists %s, want %s", path, got, want)
		}
	}
	w.wantPage("/?pipeline=p1&page=2", "Page 2 of 2", `href="/?pipeline=p1&amp;sort=name"`, `href="?pipeline=p1&amp;page=1"`)
}

func TestDownload(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 12345678901234567)
	document := w.stream("shop-1")
	for path, want := range map[string]string{
		"/runs/shop-1/download/xml": string(document.Bytes()),
		"/runs/shop-1/download/json": fmt.Sprintf(`{"name":"shop-1","run":"%s","pipeline":"shop","status":"inprocess","withError":false,"total":1,"done":0,"events":[
%s
]}
`, document.Run(), document.Root().AppendJSON(nil, nil)),
		"/runs/shop-1/download/input?event=00": "12345678901234567",
	} {
		a := w.get(path)
		if a.body != want {
			t.Errorf("GET %s = %q, want %q", path, a.body, want)
		}
		if got := a.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename=shop-1") {
			t.Errorf("GET %s: Content-Disposition = %q, want an attachment", path, got)
		}
	}
}

// What somebody else wrote is shown as text, whatever it is.
func TestHostile(t *testing.T) {
	const evil = `&quot;&gt;&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;`
	w := newWorld(t, dashboard.Options{Title: `"><script>alert(1)</script>`})
	w.put("streams/evil.xml", fmt.Sprintf(`<EventStream name="%[1]s" run="%[1]s" pipeline="%[1]s" definition="%[1]s" paused="%[1]s" by="%[1]s" msg="%[1]s">
<Event id="00" name="%[1]s" topic="%[1]s" status="inprocess" next="00.00|00.01" trackingId="%[1]s" created="2026-01-01T00:00:00Z" join="%[1]s" by="%[1]s" msg="%[1]s" %[2]s="x"/>
</EventStream>`, evil, "own"))
	w.put("streams/evil.xml", fmt.Sprintf(`<EventStream name="%[1]s" run="%[1]s" pipeline="%[1]s" definition="%[1]s" paused="%[1]s" by="%[1]s" msg="%[1]s">
<Event id="00" name="%[1]s" topic="%[1]s" status="inprocess" next="01.00|02.00" created="2026-01-01T00:00:00Z" join="%[1]s" by="%[1]s" msg="%[1]s" own="%[1]s"/>
<Event id="01.00" name="%[1]s" topic="%[1]s" status="aborted" prev="00" key="%[1]s" msg="%[1]s"><Input>"%[1]s"</Input><Output>%[1]s</Output><Attempt n="1" error="%[1]s">%[1]s</Attempt></Event>
<Event id="02.00" name="%[1]s" topic="%[1]s" status="init" prev="00"/>
</EventStream>`, evil))
	w.put("streams/<script>alert(1)</script>.xml", "x")
	w.put(`workers/"><script>alert(1)</script>`, `{"slots":1,"pipelines":[{"name":"\"><script>alert(1)</script>","definition":"\"><script>alert(1)</script>","steps":["\"><script>alert(1)</script>"]}]}`)
	w.put(`workers/evil`, `{"slots":1,"pipelines":[{"name":"\"><script>alert(1)</script>","definition":"\"><script>alert(1)</script>","steps":["\"><script>alert(1)</script>"]}]}`)
	hold(t, w, "workers/evil")
	hold(t, w, `workers/"><script>alert(1)</script>`)
	for _, path := range []string{
		"/", "/?pipeline=%22%3E%3Cscript%3E&q=%22%3E%3Cscript%3Ealert(1)", "/runs/evil", "/runs/evil?open=%22%3E%3Cscript%3Ealert(1)", "/runs/evil/timeline", "/runs/evil/events", "/runs/evil/events?q=%22%3E%3Cscript%3Ealert(1)&state=%22%3E%3Cscript%3Ealert(1)",
		"/runs/evil/events/00", "/runs/evil/events/01.00", "/runs/evil/query?xpath=%22%3E%3Cscript%3Ealert(1)", "/runs/evil/query?xpath=//@name", "/runs/evil/xml", "/runs/evil/json",
		"/runs/evil/do/cancel", "/runs/evil/do/skip?at=00", "/pipelines", "/workers", "/leases", `/leases/break?blob=workers/%22%3E%3Cscript%3Ealert(1)%3C/script%3E`,
		"/runs/%3Cscript%3Ealert(1)", "/bulk/cancel?q=%22%3E%3Cscript%3Ealert(1)", "/%3Cscript%3Ealert(1)", "/?done=%3Cscript%3Ealert(1)",
	} {
		a := w.get(path)
		if a.StatusCode == http.StatusInternalServerError || a.StatusCode == http.StatusBadGateway || path == "/workers" && a.StatusCode != http.StatusOK {
			t.Errorf("GET %s = %d, want it shown or refused: %.500s", path, a.StatusCode, mainOf(a.body))
		}
		for _, markup := range []string{"<script>", "<img", "onerror=alert(1)>"} {
			if strings.Contains(a.body, markup) {
				t.Errorf("GET %s has %q as markup", path, markup)
			}
		}
	}
	w.wantPage("/runs/evil/events/01.00", "&lt;script&gt;alert(1)")
}

func TestPayload_Shortened(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	long := strings.Repeat("é", 100_000)
	w.put("streams/long.xml", fmt.Sprintf(`<EventStream name="long"><Event id="00" name="A" status="completed" created="2026-01-01T00:00:00Z" msg="%[1]s"><Output>"%[1]s"</Output></Event></EventStream>`, long))
	for _, path := range []string{"/", "/runs/long", "/runs/long/events", "/runs/long/events/00", "/runs/long/xml", "/runs/long/json", "/runs/long/timeline"} {
		body := w.page(path)
		if len(body) > 150_000 {
			t.Errorf("GET %s has %d bytes, want what is long to be shortened", path, len(body))
		}
		if strings.Contains(body, "\uFFFD") {
			t.Errorf("GET %s cuts a character in two", path)
		}
	}
	w.wantPage("/runs/long/events/00", "first 64 KiB", "195.3 KiB")
}

// Numbers and ids are shown digit by digit.
func TestPages_ExactNumbers(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.put("streams/exact.xml", `<EventStream name="exact"><Event id="00" name="A" status="completed" created="2026-01-01T00:00:00.001Z"><Output>{"n":12345678901234567890123,"f":0.1000}</Output></Event></EventStream>`)
	w.wantPage("/runs/exact/events/00", "12345678901234567890123", "0.1000", `datetime="2026-01-01T00:00:00.001Z" title="2026-01-01 00:00:00.001 UTC"`)
}

func TestWhy(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	w.wantPage("/runs/shop-1", "1 event of step Order", "no live worker serves it")
	if err := w.p.Pause(t.Context(), "shop-1", "", "ada", "lunch"); err != nil {
		t.Fatal(err)
	}
	w.wantPage("/runs/shop-1", "Paused by ada", "Reason: lunch")
	w.wantPage("/runs/shop-1/events/00", "Paused by ada")
	if err := w.p.PauseAll(t.Context(), "ada", ""); err != nil {
		t.Fatal(err)
	}
	w.wantPage("/runs/shop-1", "All runs of the container are paused.")
	w.wantPage("/workers", "All runs of the container are paused")
	w.put("streams/late.xml", `<EventStream name="late" definition="x"><Event id="00" name="A" status="inprocess" next="01.00|02.00"/><Event id="01.00" prev="00" name="B" status="init" due="2999-01-01T00:00:00Z"/><Event id="02.00" prev="00" name="B" status="completed"/></EventStream>`)
	w.wantPage("/runs/late", "not to be begun yet; the next one is due at 2999-01-01 00:00:00.000 UTC")
	w.wantPage("/runs/late/events/01.00", "It is not to be begun before 2999-01-01")
	w.wantPage("/runs/late/events/00", "It waits for 1 event after it; 1 of 2 branches have ended.")
}

func TestTree_CollapsesEqualSiblings(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.put("streams/wide.xml", wideDocument(1000))
	body := mainOf(w.page("/runs/wide"))
	if got := strings.Count(body, `<li class="d1">`); got != 20+1+2 {
		t.Errorf("the tree has %d rows below the split, want 20 failures, the one that waits, and two counts", got)
	}
	w.wantPage("/runs/wide", "<b>899</b> × B", "<b>80</b> × B", `href="/runs/wide/events?state=failed&amp;step=B&amp;under=00"`)
	w.wantPage("/runs/wide/events?state=failed&step=B&under=00", "100 events")
	w.wantPage("/runs/wide?open=00", "Page 1 of 5", `href="?open=00&amp;page=2"`)
}

// wideDocument is a run whose split has n branches, one in ten of which failed,
// and the last of which is still to come.
func wideDocument(n int) string {
	var next, events strings.Builder
	for i := range n {
		id := eventstream.JoinID(eventstream.JoinID("", i+1), 0)
		status, more := "completed", `><Output>{"n":1}</Output></Event>`
		switch {
		case i == n-1:
			status, more = "init", `/>`
		case i%10 == 3:
			status, more = "aborted", ` msg="no luck"><Attempt n="1" error="no luck"/></Event>`
		}
		if i > 0 {
			next.WriteByte('|')
		}
		next.WriteString(id)
		fmt.Fprintf(&events, `<Event id="%s" prev="00" name="B" topic="B" status="%s" created="2026-01-01T00:00:01.000Z" started="2026-01-01T00:00:%02d.000Z" timestamp="2026-01-01T00:00:%02d.500Z" key="w" attempt="1"%s`+"\n", id, status, 2+i%50, 2+i%50, more)
	}
	return fmt.Sprintf(`<EventStream name="wide" run="r1" pipeline="p"><Event id="00" name="A" topic="A" status="inprocess" created="2026-01-01T00:00:00.000Z" started="2026-01-01T00:00:00.500Z" timestamp="2026-01-01T00:00:01.000Z" next="%s"/>
%s</EventStream>`, next.String(), events.String())
}
