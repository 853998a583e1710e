package dashboard_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browser is a Chromium that all tabs of a test share.
type browser struct {
	t   *testing.T
	ctx context.Context
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("no Chromium to test with (Debian: apt-get install chromium): %v", err)
	}
	return &browser{t, ctx}
}

// tab is a window of its own, with no cookies of others.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // URL of the dashboard, without a slash at its end

	mu       sync.Mutex // guards the field below
	mistakes []string   // what the console says
}

// longest is how long something may take to show, on a machine with a lot to do.
const longest = time.Minute

func (b *browser) tab(t *testing.T, server *httptest.Server) *tab {
	t.Helper()
	tb := &tab{t: t, base: server.URL}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tb.ctx = ctx
	// The first of them opens the tab, whose life is that of the context it is given.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	tb.do(chromedp.EmulateViewport(1280, 900))
	messages := chromedp.Console(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { // until the tab is closed
		for message, err := range messages {
			if err != nil {
				return
			}
			tb.note(string(message.Type), message.Text)
		}
	})
	t.Cleanup(func() { cancel(); reading.Wait() })
	return tb
}

// note keeps what the console has to complain about: a script that fails, and what
// the policy forbids.
func (tb *tab) note(kind, text string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if kind == "error" || kind == "exception" || strings.Contains(text, "Content Security Policy") {
		tb.mistakes = append(tb.mistakes, kind+": "+text)
	}
}

// wantNoMistakes checks that the console has nothing to complain about but answers
// that were asked for, such as 404.
func (tb *tab) wantNoMistakes() {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, mistake := range tb.mistakes {
		if !strings.Contains(mistake, "Failed to load resource") {
			tb.t.Errorf("the console says %s", mistake)
		}
	}
}

func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, longest)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		tb.t.Fatalf("%s: %v", tb.where(), err)
	}
}

func (tb *tab) where() string {
	ctx, cancel := context.WithTimeout(tb.ctx, 5*time.Second)
	defer cancel()
	url, _ := chromedp.Run(ctx, chromedp.Location())
	return url
}

// signIn opens the dashboard as one does with the URL that serve prints.
func (tb *tab) signIn() *tab {
	tb.t.Helper()
	tb.open("/?token=" + token)
	return tb
}

func (tb *tab) open(path string) { tb.t.Helper(); tb.do(chromedp.Navigate(tb.base + path)) }

func (tb *tab) click(selector string) {
	tb.t.Helper()
	tb.do(chromedp.Click(chromedp.CSS(selector)))
}

func (tb *tab) fill(selector, text string) {
	tb.t.Helper()
	tb.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// eval gives what a script says, or an error while the page is on its way.
func eval[T any](tb *tab, script string) (T, error) {
	ctx, cancel := context.WithTimeout(tb.ctx, longest)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script))
}

// until waits until a condition, a script, holds in the page.
func (tb *tab) until(condition string) {
	tb.t.Helper()
	for end := time.Now().Add(longest); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok, err := eval[bool](tb, condition); err == nil && ok {
			return
		}
	}
	text, _ := eval[string](tb, "document.body.innerText")
	tb.t.Fatalf("%s: not within %v: %s; the page is %.1500s", tb.where(), longest, condition, text)
}

// sees waits until the page shows a text.
func (tb *tab) sees(text string) {
	tb.t.Helper()
	tb.until("document.body.innerText.includes(" + strconv.Quote(text) + ")")
}

// at waits until the page is the one with this path and query.
func (tb *tab) at(path string) {
	tb.t.Helper()
	tb.until(fmt.Sprintf("location.pathname + location.search === %q && document.readyState === 'complete'", path))
}

// withoutScripts is for readers whose browser runs none.
func (tb *tab) withoutScripts() *tab {
	tb.t.Helper()
	_, err := chromedp.Call(tb.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	if err != nil {
		tb.t.Fatal(err)
	}
	return tb
}

// scheme sets whether the reader prefers dark or light.
func (tb *tab) scheme(name string) *tab {
	tb.t.Helper()
	_, err := chromedp.Call(tb.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	if err != nil {
		tb.t.Fatal(err)
	}
	return tb
}
