package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/dashboard"
)

func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	t.Run("every page", b.testPages)
	t.Run("every action on a run", b.testRunActions)
	t.Run("every action on an event", b.testEventActions)
	t.Run("bulk actions", b.testBulk)
	t.Run("start and follow", b.testStart)
	t.Run("workers and leases", b.testWorkersAndLeases)
	t.Run("live", b.testLive)
	t.Run("without scripts", b.testWithoutScripts)
	t.Run("without the token", b.testWithoutToken)
	t.Run("from another origin", b.testOtherOrigin)
	t.Run("hostile names", b.testHostile)
	t.Run("many events", b.testManyEvents)
	t.Run("keyboard and labels", b.testAccessible)
}

func (b *browser) testPages(t *testing.T) {
	w := newWorld(t, dashboard.Options{Title: "sqlite:orders.db"})
	w.work()
	w.toApproval("shop-1", 7)
	tb := b.tab(t, w.serve()).signIn()
	tb.at("/")
	tb.sees("sqlite:orders.db")
	for _, step := range []struct{ click, path, text string }{
		{`main a[href="/runs/shop-1"]`, "/runs/shop-1", "7 of 10 events"},
		{`.tree a.toggle`, "/runs/shop-1?open=00", "collapse"},
		{`nav.tabs a[href$="/timeline"]`, "/runs/shop-1/timeline", "At work over time"},
		{`nav.tabs a[href$="/events"]`, "/runs/shop-1/events", "10 events"},
		{`a[href="/runs/shop-1/events/02.00"]`, "/runs/shop-1/events/02.00", "no price for it"},
		{`nav.tabs a[href$="/query"]`, "/runs/shop-1/query", "Some to begin with"},
		{`.samples a`, "/runs/shop-1/query?xpath=.%2FEvent%5B%40status%3D%27aborted%27%5D", "2 nodes"},
		{`nav.tabs a[href$="/xml"]`, "/runs/shop-1/xml", `<EventStream name="shop-1"`},
		{`nav.tabs a[href$="/json"]`, "/runs/shop-1/json", `"pipeline":"shop"`},
		{`nav[aria-label="Main"] a[href="/pipelines"]`, "/pipelines", "shop"},
		{`nav[aria-label="Main"] a[href="/workers"]`, "/workers", "worker-1"},
		{`nav[aria-label="Main"] a[href="/leases"]`, "/leases", "locks/sweep"},
		{`nav[aria-label="Main"] a[href="/"]`, "/", "shop-1"},
	} {
		tb.click(step.click)
		tb.at(step.path)
		tb.sees(step.text)
	}
	tb.fill(`input[name="q"]`, "nothing like it\r")
	tb.sees("No runs match.")
	tb.open("/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:"))
	tb.sees("Workers that share it")
	// Times are the reader's own, with UTC in the title.
	tb.open("/runs/shop-1")
	tb.until(`document.querySelector("time").title.endsWith(" UTC") && !document.querySelector("time").textContent.endsWith("Z")`)
	tb.wantNoMistakes()
}

// confirm goes through the page that asks for confirmation.
func (tb *tab) confirm(link string, asks ...string) {
	tb.t.Helper()
	tb.click(link)
	for _, text := range asks {
		tb.sees(text)
	}
	tb.click(`main form button`)
}

func (b *browser) testRunActions(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	stop := w.work()
	w.toApproval("shop-1", 7)
	stop()
	tb := b.tab(t, w.serve()).signIn()
	tb.open("/runs/shop-1/limit?step=Price")
	tb.fill(`[name="limit"]`, "3")
	tb.click(`main form button`)
	tb.sees("Price 3")
	for _, step := range []struct{ verb, asks, says, shows string }{
		{"pause", "Pause run shop-1?", "Paused.", "Paused by operator"},
		{"resume", "Resume run shop-1?", "Resumed.", "for someone outside"},
		{"retry", "2 events to be worked on", "It runs again.", "2 events of step Price wait"},
		{"cancel", "events canceled", "Canceled.", "Canceled"},
		{"retry", "to be worked on", "It runs again.", "Running"},
		{"abort", "events canceled", "Aborted.", "Aborted"},
		{"purge", "removed for good", "Purged.", "No runs."},
	} {
		tb.confirm(`.actions a[href$="/do/`+step.verb+`"]`, step.asks, "shop-1")
		tb.sees(step.says)
		tb.sees(step.shows)
	}
	tb.wantNoMistakes()
}

func (b *browser) testEventActions(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	stop := w.work()
	w.toApproval("shop-1", 7)
	stop()
	tb := b.tab(t, w.serve()).signIn()
	for _, step := range []struct{ id, verb, fill, says, shows string }{
		{"02", "pause", "lunch", "Paused.", "Reason: lunch"},
		{"02", "resume", "", "Resumed.", "It waits for someone outside"},
		{"02", "complete", `{"ok": true}`, "Completed.", `"ok": true`},
		{"02.00", "rerun", "7", "It runs again.", "Waiting"},
		{"02.00", "skip", "no stock", "Skipped.", "no stock"},
		{"05.00", "retry", "", "It runs again.", "Waiting"},
		{"05.00", "cancel", "late", "Canceled.", "late"},
		{"05.00", "rerun", "", "It runs again.", "Waiting"},
		{"05.00", "abort", "enough", "Aborted.", "enough"},
	} {
		tb.open("/runs/shop-1/events/" + step.id)
		tb.click(fmt.Sprintf(`.panel .actions a[href="/runs/shop-1/do/%s?at=%s"]`, step.verb, step.id))
		tb.sees("event " + step.id)
		if step.fill != "" {
			tb.fill(`main form [name="reason"], main form [name="value"]`, step.fill)
		}
		tb.click(`main form button`)
		tb.at("/runs/shop-1/events/" + step.id)
		tb.sees(step.says)
		tb.sees(step.shows)
	}
	if output, _ := w.stream("shop-1").Event("02").Output(); string(output.JSON) != `{"ok":true}` {
		t.Errorf("event 02 has output %s, want the one of the form", output.JSON)
	}
	tb.wantNoMistakes()
}

func (b *browser) testBulk(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	for i := range 12 {
		w.start(fmt.Sprintf("shop-%02d", i), 1)
	}
	tb := b.tab(t, w.serve()).signIn()
	for _, step := range []struct{ verb, asks, says string }{
		{"cancel", "Cancel 12 runs?", "Cancel 12 runs: done"},
		{"retry", "Retry 12 runs?", "Retry 12 runs: done"},
		{"cancel", "Cancel 12 runs?", "Cancel 12 runs: done"},
		{"purge", "Purge 12 runs?", "Purge 12 runs: done"},
	} {
		tb.open("/")
		tb.confirm(`.bulk a[href="/bulk/`+step.verb+`"]`, step.asks)
		tb.sees(step.says)
	}
	tb.click(`main a.button`)
	tb.sees("No runs.")
	tb.wantNoMistakes()
}

func (b *browser) testStart(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	tb := b.tab(t, w.serve()).signIn()
	tb.open("/pipelines")
	tb.click(`main a[href^="/pipelines/"]`)
	tb.fill(`[name="input"]`, "4")
	tb.fill(`[name="name"]`, "mine")
	tb.fill(`[name="tags"]`, "city=Brno")
	tb.click("#start button")
	tb.at("/runs/mine")
	tb.sees("Started.")
	tb.sees("city=Brno")
	tb.sees("no live worker serves it")
	w.work()
	tb.sees("for someone outside to complete") // without a reload
	tb.click(`.actions a[href*="from=mine"]`)
	tb.until(`document.querySelector("[name=input]").value === "4"`)
	tb.wantNoMistakes()
}

func (b *browser) testWorkersAndLeases(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	hold(t, w, "locks/mine")
	tb := b.tab(t, w.serve()).signIn()
	tb.open("/workers")
	tb.sees("No worker is there.")
	w.work()
	tb.sees("worker-1")
	tb.confirm(`a[href="/workers/pause"]`, "Pause all runs of the container?")
	tb.sees("workers take no work")
	tb.click(`.title form button`)
	tb.sees("Runs go on.")
	tb.click(`a[href="/workers/slots?id=worker-1"]`)
	tb.do(chromedp.SetValue(chromedp.CSS(`[name="slots"]`), "2"))
	tb.click(`main form button`)
	tb.sees("2 by operator")
	tb.open("/leases")
	tb.confirm(`a[href="/leases/break?blob=locks%2Fmine"]`, "Break the lease of locks/mine?")
	tb.sees("The lease was broken.")
	tb.sees("broken")
	tb.wantNoMistakes()
}

func (b *browser) testLive(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	tb := b.tab(t, w.serve()).signIn()
	tb.sees("No runs.")
	w.start("shop-1", 7)
	tb.sees("shop-1")
	tb.open("/runs/shop-1")
	tb.until(`document.getElementById("live-text").textContent === "Live"`)
	w.work()
	tb.sees("7 of 10 events")
	tb.sees("Approve")
	// What has the focus, or is open, stays so.
	tb.open("/runs/shop-1/events/02")
	tb.click("#attributes summary")
	tb.do(chromedp.Focus(chromedp.CSS(`.panel .actions a[href*="skip"]`)))
	if err := w.p.Pause(t.Context(), "shop-1", "02", "ada", ""); err != nil {
		t.Fatal(err)
	}
	tb.sees("Paused by ada")
	tb.until(`document.getElementById("attributes").open && document.activeElement.textContent === "Skip"`)
	// A reader who wants to read undisturbed turns it off.
	tb.click("#live")
	tb.until(`document.getElementById("live-text").textContent === "Paused"`)
	if err := w.p.Cancel(t.Context(), "shop-1", "", "ada", ""); err != nil {
		t.Fatal(err)
	}
	tb.click("#live")
	tb.until(`document.getElementById("announce").textContent.includes("Canceled")`)
	tb.wantNoMistakes()
}

// All but live updates and local times works without a script.
func (b *browser) testWithoutScripts(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	tb := b.tab(t, w.serve()).withoutScripts()
	tb.open("/?token=" + token)
	tb.click(`main a[href="/runs/shop-1"]`)
	tb.do(chromedp.WaitVisible(chromedp.CSS(".tree")))
	tb.click(`.actions a[href$="/do/cancel"]`)
	tb.fill(`[name="reason"]`, "no scripts")
	tb.click(`main form button`)
	tb.do(chromedp.WaitVisible(chromedp.CSS(".notice")))
	if root := w.stream("shop-1").Root(); root.Status() != eventstream.Canceled || root.Msg() != "no scripts" {
		t.Errorf("the run is %v, %q, want it canceled for the reason of the form", root.Status(), root.Msg())
	}
}

func (b *browser) testWithoutToken(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	server := w.serve()
	tb := b.tab(t, server)
	for _, path := range []string{"/", "/runs/shop-1", "/live/runs", "/assets/app.js", "/?token=guessed-" + token} {
		tb.open(path)
		tb.sees("Open the URL with ?token=")
		if text, err := eval[string](tb, "document.documentElement.outerHTML"); err != nil || strings.Contains(text, "shop-1") {
			t.Errorf("GET %s shows %q, %v", path, text, err)
		}
	}
	tb.signIn()
	tb.at("/")
	tb.sees("shop-1")
	if cookies, err := eval[string](tb, "document.cookie"); err != nil || cookies != "" {
		t.Errorf("a script sees the cookie: %q, %v", cookies, err)
	}
}

// A page from elsewhere, in the browser of somebody who is signed in, can neither do
// nor see anything: not one of another site, and not one of another port of the same
// machine, with which the browser does send the cookie.
func (b *browser) testOtherOrigin(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	server := w.serve()
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `<title>evil</title><form id="f" method="post" action="%s/runs/shop-1/do/cancel"><input name="reason" value="evil"></form>`, server.URL)
	}))
	t.Cleanup(evil.Close)
	tb := b.tab(t, server).signIn()
	tb.at("/")
	fetches := fmt.Sprintf(`(async () => {
		const tries = [];
		for (const [path, options] of [["/", {}], ["/live/runs", {}], ["/runs/shop-1/do/cancel", {method: "POST", body: new URLSearchParams("reason=evil")}]])
			for (const mode of ["cors", "no-cors"])
				tries.push(await fetch(%q + path, {credentials: "include", mode, ...options}).then((r) => r.type, () => "refused"));
		return tries.join(" ");
	})()`, server.URL)
	for _, site := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		there := &tab{t: t, ctx: tb.ctx, base: site}
		there.open("/")
		seen, err := chromedp.Run(there.ctx, chromedp.Evaluate[string](fetches, chromedp.EvalAwaitPromise))
		if err != nil || strings.Contains(seen, "basic") || strings.Contains(seen, "cors ") {
			t.Errorf("a script of %s got %q, %v, want nothing that it can read", site, seen, err)
		}
		there.do(chromedp.Submit(chromedp.CSS("#f")))
		there.until(`document.body.innerText.includes("Open the URL") || document.body.innerText.includes("cross-origin")`)
		if w.stream("shop-1").IsDone() {
			t.Fatalf("%s canceled the run", site)
		}
	}
	tb.open("/runs/shop-1")
	tb.sees("Running")
}

func (b *browser) testHostile(t *testing.T) {
	const evil = `&quot;&gt;&lt;/title&gt;&lt;script&gt;document.title='owned'&lt;/script&gt;&lt;img src=x onerror=&quot;document.title='owned'&quot;&gt;`
	w := newWorld(t, dashboard.Options{Title: `<img src=x onerror="document.title='owned'">`})
	w.put("streams/evil.xml", fmt.Sprintf(`<EventStream name="%[1]s" run="%[1]s" pipeline="%[1]s" definition="%[1]s">
<Event id="00" name="%[1]s" topic="%[1]s" status="aborted" msg="%[1]s" key="%[1]s" by="%[1]s" own="%[1]s"><Input>"%[1]s"</Input><Output>%[1]s</Output><Attempt n="1" error="%[1]s">%[1]s</Attempt></Event>
</EventStream>`, evil))
	tb := b.tab(t, w.serve()).signIn()
	for _, path := range []string{
		"/", "/runs/evil", "/runs/evil/timeline", "/runs/evil/events", "/runs/evil/events/00", "/runs/evil/query?xpath=//@msg",
		"/runs/evil/xml", "/runs/evil/json", "/runs/evil/do/retry", "/pipelines", "/?q=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
	} {
		tb.open(path)
		tb.sees("Leasestream")
		if title, err := eval[string](tb, "document.title + document.querySelectorAll('main img, main script').length"); err != nil || strings.Contains(title, "owned") || !strings.HasSuffix(title, "Leasestream0") {
			t.Errorf("GET %s: title %q, %v, want nothing of the document to be markup", path, title, err)
		}
	}
	tb.open("/runs/evil/events/00")
	tb.sees(`<script>document.title='owned'</script>`)
	tb.wantNoMistakes()
}

func (b *browser) testManyEvents(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.putMany("wide", manyEvents-1)
	tb := b.tab(t, w.serve()).signIn()
	for _, step := range []struct{ path, text string }{
		{"/runs/wide", "49,998 of 50,000 events"},
		{"/runs/wide/timeline", "44,998/49,999"},
		{"/runs/wide/events?state=failed", "5,000 events"},
		{"/runs/wide/events/00", "and 49,949 more"},
	} {
		tb.open(step.path)
		tb.sees(step.text)
		const measure = `(() => { const n = performance.getEntriesByType("navigation")[0]; return [n.responseStart - n.requestStart, n.domContentLoadedEventEnd - n.requestStart, n.encodedBodySize, document.querySelectorAll("*").length]; })()`
		numbers, err := eval[[]float64](tb, measure)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%6.0f ms to the first byte, %6.0f ms until it is usable, %6.0f bytes, %5.0f elements: %s", numbers[0], numbers[1], numbers[2], numbers[3], step.path)
		if numbers[2] > maxPage || numbers[3] > 10_000 {
			t.Errorf("%s has %v bytes and %v elements, want at most %d and 10000", step.path, numbers[2], numbers[3], maxPage)
		}
	}
	tb.open("/runs/wide")
	tb.until(`document.getElementById("live-text").textContent === "Live"`)
	if err := w.p.Cancel(t.Context(), "wide", "", "ada", ""); err != nil {
		t.Fatal(err)
	}
	tb.until(`document.getElementById("run-live").innerText.includes("Canceled")`)
	tb.wantNoMistakes()
}

// Whoever uses no mouse, or hears the pages, finds what they need.
func (b *browser) testAccessible(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.work()
	w.toApproval("shop-1", 7)
	tb := b.tab(t, w.serve()).signIn()
	for _, path := range []string{
		"/", "/runs/shop-1", "/runs/shop-1/timeline", "/runs/shop-1/events", "/runs/shop-1/events/02", "/runs/shop-1/query",
		"/runs/shop-1/do/cancel", "/pipelines", "/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:"), "/workers", "/leases",
	} {
		tb.open(path)
		problems, err := eval[[]string](tb, `(() => {
			const found = [];
			const all = (selector) => Array.from(document.querySelectorAll(selector));
			if (all("h1").length !== 1) found.push(all("h1").length + " h1");
			if (all("main").length !== 1 || all("nav[aria-label]").length < 1 || all("header").length < 1) found.push("landmarks");
			if (!document.documentElement.lang) found.push("no language");
			const named = (e) => e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length;
			for (const e of all("a, button, select, textarea, input:not([type=hidden])")) if (!named(e)) found.push("no name: " + e.outerHTML);
			for (const e of all("svg:not([aria-hidden])")) if (!e.getAttribute("aria-label")) found.push("picture without words");
			for (const e of all("th")) if (!e.scope) found.push("th without scope: " + e.outerHTML);
			const ids = all("[id]").map((e) => e.id);
			for (const id of new Set(ids)) if (ids.filter((i) => i === id).length > 1) found.push("id twice: " + id);
			if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window");
			return found;
		})()`)
		if err != nil || len(problems) > 0 {
			t.Errorf("GET %s: %q, %v", path, problems, err)
		}
	}
	// The first stop of the keyboard leads past the navigation.
	tb.open("/")
	tb.do(chromedp.KeyEvent("\t"))
	tb.until(`document.activeElement.textContent === "Skip to the content"`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.until(`location.hash === "#main"`)
	// On a narrow screen nothing is cut off.
	tb.do(chromedp.EmulateViewport(380, 800))
	for _, path := range []string{"/", "/runs/shop-1", "/runs/shop-1/events/02", "/workers"} {
		tb.open(path)
		tb.until("document.documentElement.scrollWidth <= innerWidth")
	}
}
