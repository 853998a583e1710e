package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// submit sends a form and returns where the browser is sent on to.
func (w *world) submit(path string, pairs ...string) string {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	a := w.do("POST", path, form)
	if a.StatusCode != http.StatusSeeOther {
		w.t.Fatalf("POST %s = %d, want 303: %.1000s", path, a.StatusCode, mainOf(a.body))
	}
	return a.Header.Get("Location")
}

// hold keeps the lease of a blob until the test has ended.
func hold(t *testing.T, w *world, blob string) {
	t.Helper()
	lease, err := w.p.Scope().Hold(t.Context(), blob, &scope.HoldOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release(t.Context()) }) // it may have been broken
}

func TestActions(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	stop := w.work()
	w.toApproval("shop-1", 7)
	stop() // from here on nobody but the test changes it
	event := func(id string) string {
		e := w.stream("shop-1").Event(id)
		return fmt.Sprintf("%v by %s %s", e.Status(), e.Attr("by"), e.Msg())
	}
	run := func() string {
		status, _ := w.stream("shop-1").Status()
		return fmt.Sprintf("%v paused=%v", status, w.stream("shop-1").Attr("paused") != "")
	}
	for _, test := range []struct {
		verb   string
		form   []string
		to     string
		got    func() string
		result string
	}{
		{"pause", nil, "/runs/shop-1?done=pause", run, "inprocess paused=true"},
		{"resume", nil, "/runs/shop-1?done=resume", run, "inprocess paused=false"},
		{"retry", []string{"at", "02.00"}, "/runs/shop-1/events/02.00?done=retry", func() string { return event("02.00") }, "init by operator "},
		{"skip", []string{"at", "02.00", "reason", "out of stock"}, "/runs/shop-1/events/02.00?done=skip", func() string { return event("02.00") }, "completed by operator out of stock"},
		{"rerun", []string{"at", "01.00", "value", "[42]"}, "/runs/shop-1/events/01.00?done=rerun", func() string {
			input, _ := w.stream("shop-1").Event("01.00").Input()
			return fmt.Sprintf("%v %s", w.stream("shop-1").Event("01.00").Status(), input.JSON)
		}, "init [42]"},
		{"complete", []string{"at", "01.00", "value", `{"price": 7}`}, "/runs/shop-1/events/01.00?done=complete", func() string {
			output, _ := w.stream("shop-1").Event("01.00").Output()
			return fmt.Sprintf("%v %s", w.stream("shop-1").Event("01.00").Status(), output.JSON)
		}, `completed {"price":7}`},
		{"retry", nil, "/runs/shop-1?done=retry", func() string { return event("05.00") }, "init by operator "},
		{"cancel", []string{"at", "05.00", "reason", "late"}, "/runs/shop-1/events/05.00?done=cancel", func() string { return event("05.00") }, "canceled by operator late"},
		{"abort", []string{"reason", "enough"}, "/runs/shop-1?done=abort", func() string { return event("00") }, "aborted by operator enough"},
	} {
		if got := w.submit("/runs/shop-1/do/"+test.verb, test.form...); got != test.to {
			t.Errorf("%s leads to %s, want %s", test.verb, got, test.to)
		}
		if got := test.got(); got != test.result {
			t.Errorf("%s %q: %s, want %s", test.verb, test.form, got, test.result)
		}
	}
	w.wantPage("/runs/shop-1?done=abort", "Aborted.")
	if got := w.submit("/runs/shop-1/do/purge"); got != "/?done=purge" {
		t.Errorf("purge leads to %s, want the list", got)
	}
	if a := w.get("/runs/shop-1"); a.StatusCode != http.StatusNotFound {
		t.Errorf("GET the purged run = %d, want 404", a.StatusCode)
	}
	for _, what := range []string{"dashboard pause", "dashboard purge", "by=operator", "stream=shop-1"} {
		if !strings.Contains(w.log.String(), what) {
			t.Errorf("the log has no %q", what)
		}
	}
}

func TestActions_Refused(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	w.put("plain", "nobody leased it")
	for _, test := range []struct {
		path string
		form []string
		want int
	}{
		{"/runs/none/do/cancel", nil, 404},
		{"/runs/shop-1/do/explode", nil, 404},
		{"/runs/shop-1/do/cancel", []string{"at", "07"}, 404},
		{"/runs/shop-1/do/skip", nil, 400}, // of what?
		{"/runs/shop-1/do/purge", nil, 409},
		{"/runs/shop-1/do/retry", nil, 409},
		{"/runs/shop-1/do/complete", []string{"at", "00", "value", "{"}, 400},
		{"/bulk/cancel", nil, 400},
		{"/bulk/cancel", []string{"asof", "yesterday"}, 400},
		{"/pipelines/00/start", nil, 404},
		{"/leases/break", []string{"blob", "none"}, 409},
		{"/leases/break", []string{"blob", "plain"}, 409},
		{"/leases/break", []string{"blob", "x", "holder", "{"}, 400},
	} {
		form := url.Values{}
		for i := 0; i < len(test.form); i += 2 {
			form.Set(test.form[i], test.form[i+1])
		}
		if a := w.do("POST", test.path, form); a.StatusCode != test.want {
			t.Errorf("POST %s %q = %d, want %d: %.600s", test.path, test.form, a.StatusCode, test.want, mainOf(a.body))
		}
	}
	if s := w.stream("shop-1"); s.IsDone() || s.Len() != 1 {
		t.Error("the run was changed by what was refused")
	}
}

func TestStart(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	path := "/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:") + "/start"
	if got := w.submit(path, "input", " 3 ", "name", "mine"); got != "/runs/mine?done=start" {
		t.Errorf("start leads to %s, want the run", got)
	}
	if got := w.submit(path, "input", "3", "name", "mine"); got != "/runs/mine?done=attach" {
		t.Errorf("the same start leads to %s, want the run that is there", got)
	}
	if got := w.submit(path, "input", "", "name", ""); !strings.HasPrefix(got, "/runs/shop-") {
		t.Errorf("start leads to %s, want a run with a name of its own", got)
	}
	for _, form := range []url.Values{
		{"input": {"4"}, "name": {"mine"}}, {"input": {"{"}}, {"name": {"../x"}},
	} {
		if a := w.do("POST", path, form); a.StatusCode < 400 || a.StatusCode >= 500 {
			t.Errorf("POST start %v = %d, want it refused", form, a.StatusCode)
		}
	}
}

// A definition that lies in the store is started only if it can be read, and is
// what its hash says.
func TestStart_FromTheStore(t *testing.T) {
	source := []byte("name: stored")
	stored, err := processor.NewPipeline("stored", &processor.Definition{Source: source}, processor.Step{Name: "Only", Handler: approve})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dashboard.Options{Load: func(given []byte) (*processor.Pipeline, error) {
		if string(given) != string(source) {
			t.Errorf("Load(%q), want only what its hash says", given)
		}
		return stored, nil
	}})
	if _, err := w.p.Start(t.Context(), stored, nil, nil); err != nil {
		t.Fatal(err)
	}
	hash := strings.TrimPrefix(stored.Definition(), "sha256:")
	if got := w.submit("/pipelines/"+hash+"/start", "name", "again"); got != "/runs/again?done=start" {
		t.Errorf("start leads to %s, want the run", got)
	}
	w.put("pipelines/"+hash+".yaml", "name: other")
	if a := w.do("POST", "/pipelines/"+hash+"/start", url.Values{"name": {"evil"}}); a.StatusCode != http.StatusNotFound {
		t.Errorf("POST start of a changed definition = %d, want 404", a.StatusCode)
	}
}

func TestBulk(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	for i := range 30 {
		w.start(fmt.Sprintf("shop-%02d", i), 1)
	}
	page := w.page("/bulk/cancel?q=shop-0")
	if !strings.Contains(page, "Cancel 10 runs?") {
		t.Fatalf("the page does not have the count: %.1000s", mainOf(page))
	}
	_, rest, _ := strings.Cut(page, `name="asof" value="`)
	asOf, _, _ := strings.Cut(rest, `"`)
	// What comes after the page was shown is not meant.
	w.start("shop-0-late", 1)
	form := url.Values{"q": {"shop-0"}, "asof": {asOf}, "reason": {"spring cleaning"}}
	a := w.do("POST", "/bulk/cancel", form)
	if a.StatusCode != http.StatusOK || !strings.Contains(a.body, "Cancel 10 runs: done") {
		t.Errorf("POST = %d, want 10 runs done: %.1000s", a.StatusCode, mainOf(a.body))
	}
	counts := map[eventstream.Status]int{}
	for info, err := range w.p.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		counts[info.Status]++
	}
	if counts[eventstream.Canceled] != 10 || counts[eventstream.Inprocess] != 21 {
		t.Errorf("runs by status: %v, want 10 canceled and 21 as they were", counts)
	}
	if got := w.stream("shop-03").Root(); got.Msg() != "spring cleaning" || got.Attr("by") != "operator" {
		t.Errorf("it was canceled by %q for %q, want operator and the reason", got.Attr("by"), got.Msg())
	}
	asOf = eventstream.FormatTime(w.p.Scope().Now())
	if a := w.do("POST", "/bulk/retry", url.Values{"asof": {asOf}, "state": {"canceled"}}); !strings.Contains(a.body, "Retry 10 runs: done") {
		t.Errorf("POST retry: %.1000s, want 10 runs done", mainOf(a.body))
	}
	w.do("POST", "/bulk/cancel", url.Values{"asof": {eventstream.FormatTime(w.p.Scope().Now())}})
	if a := w.do("POST", "/bulk/purge", url.Values{"asof": {eventstream.FormatTime(w.p.Scope().Now())}}); !strings.Contains(a.body, "Purge 31 runs: done") {
		t.Errorf("POST purge: %.1000s, want 31 runs done", mainOf(a.body))
	}
}

func TestTags(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	path := "/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:") + "/start"
	w.submit(path, "input", "1", "name", "brno", "tags", "city=Brno, urgent team=a")
	w.submit(path, "input", "1", "name", "graz", "tags", "city=Graz")
	w.wantPage("/", `href="/?tag=city%3DBrno"`, ">urgent</a>")
	w.wantPage("/runs/brno", ">team=a</a>")
	for filter, want := range map[string]string{"city=Brno": "1", "city": "2", "city+urgent": "1", "city=Wien": "0", "urgent=": "1"} {
		w.wantPage("/?tag="+filter, `All <span class="n">`+want+`</span>`)
	}
	w.wantPage("/bulk/cancel?tag=urgent", "Cancel 1 run?", `name="tag" value="urgent"`)
	if a := w.do("POST", path, url.Values{"tags": {"a b=" + strings.Repeat("x", 1000)}}); a.StatusCode != http.StatusBadRequest {
		t.Errorf("POST start with a tag that is too long = %d, want 400", a.StatusCode)
	}
}

func TestLimit(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 1)
	w.wantPage("/runs/shop-1/limit?step=Price", "<option>Order</option>", "<option selected>Price</option>")
	if got := w.submit("/runs/shop-1/limit", "step", "Price", "limit", "2"); got != "/runs/shop-1?done=limit" {
		t.Errorf("limit leads to %s, want the run", got)
	}
	if got := w.stream("shop-1").Limits()["Price"]; got != 2 {
		t.Errorf("the limit is %d, want 2", got)
	}
	w.wantPage("/runs/shop-1", "Price 2")
	w.submit("/runs/shop-1/limit", "step", "Price", "limit", "")
	w.wantPage("/runs/shop-1", "Price none")
	for _, form := range []url.Values{{"step": {"Price"}, "limit": {"0"}}, {"step": {"Price"}, "limit": {"many"}}, {"step": {""}, "limit": {"1"}}} {
		if a := w.do("POST", "/runs/shop-1/limit", form); a.StatusCode < 400 || a.StatusCode >= 500 {
			t.Errorf("POST limit %v = %d, want it refused", form, a.StatusCode)
		}
	}
}

func TestSlots(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.work()
	w.wantPage("/workers", `href="/workers/slots?id=worker-1"`)
	w.wantPage("/workers/slots?id=worker-1", `value="4"`)
	if got := w.submit("/workers/slots", "id", "worker-1", "slots", "2"); got != "/workers?done=slots" {
		t.Errorf("slots leads to %s, want the workers", got)
	}
	w.wantPage("/workers", "2 by operator")
	for _, form := range []url.Values{{"id": {"worker-1"}, "slots": {"-1"}}, {"id": {"worker-1"}, "slots": {"x"}}, {"id": {"none"}, "slots": {"1"}}} {
		if a := w.do("POST", "/workers/slots", form); a.StatusCode < 400 || a.StatusCode >= 500 {
			t.Errorf("POST slots %v = %d, want it refused", form, a.StatusCode)
		}
	}
}

// Workers that keep their logs in the container show them, and so do attempts.
func TestLogs(t *testing.T) {
	pl, err := processor.NewPipeline("loud", nil, processor.Step{
		Name: "Only", Retry: processor.Retry{Attempts: 1},
		Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Outcome{}, &processor.LoggedError{Err: errors.New("no luck"), Log: []byte("first line\n<b>last line</b>\n")}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dashboard.Options{Pipelines: []*processor.Pipeline{pl}})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := w.p.Work(ctx, &processor.WorkOptions{ID: "loud-1"}, pl); err != nil {
			t.Errorf("Work() = %v", err)
		}
	})
	defer func() { cancel(); done.Wait() }()
	if _, err := w.p.Start(t.Context(), pl, nil, &processor.StartOptions{Name: "loud"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Await(t.Context(), "loud", nil); err != nil {
		t.Fatal(err)
	}
	w.wantPage("/runs/loud/events/00", "first line", "&lt;b&gt;last line", `href="/runs/loud/download/log-1?event=00"`)
	if a := w.get("/runs/loud/download/log-1?event=00"); a.body != "first line\n<b>last line</b>\n" || !strings.Contains(a.Header.Get("Content-Disposition"), ".log") {
		t.Errorf("download = %q, %q, want the log as a file", a.body, a.Header.Get("Content-Disposition"))
	}
	if a := w.get("/runs/loud/download/log-2?event=00"); a.StatusCode != http.StatusNotFound {
		t.Errorf("download of no log = %d, want 404", a.StatusCode)
	}
	w.put("workers/loud-1.log", strings.Repeat("too long ago\n", 2000)+"level=INFO msg=<i>hello</i>\n")
	w.wantPage("/workers", "level=INFO msg=&lt;i&gt;hello")
	w.wantPage("/pipelines/"+strings.TrimPrefix(pl.Definition(), "sha256:"), "level=INFO msg=&lt;i&gt;hello")
}

func TestLeases_Break(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	hold(t, w, "locks/mine")
	if got := w.submit("/leases/break", "blob", "locks/mine"); got != "/leases?done=break" {
		t.Errorf("break leads to %s, want the leases", got)
	}
	info, err := w.st.Stat(t.Context(), "locks/mine", nil)
	if err != nil || info.Lease.State != store.LeaseBroken {
		t.Errorf("the lease is %v, %v, want broken", info.Lease.State, err)
	}
}

func TestWorkers_PauseAll(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.submit("/workers/pause", "reason", "maintenance")
	if on, err := w.p.AllPaused(t.Context()); !on || err != nil {
		t.Errorf("AllPaused() = %v, %v, want true", on, err)
	}
	w.submit("/workers/resume")
	if on, err := w.p.AllPaused(t.Context()); on || err != nil {
		t.Errorf("AllPaused() = %v, %v, want false", on, err)
	}
}
