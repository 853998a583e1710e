package dashboard_test

import (
	"bufio"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/processor/dashboard"
)

// follow opens an event stream, as a browser does.
func (w *world) follow(server *httptest.Server, path string) *bufio.Scanner {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "GET", server.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		w.t.Fatalf("GET %s = %d, %q, want an event stream", path, response.StatusCode, got)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Scan() // that it is connected
	lines.Scan()
	return lines
}

// event reads one event of a stream: its name and its data.
func event(t *testing.T, lines *bufio.Scanner) (name, data string) {
	t.Helper()
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "" && name != "":
			return name, data
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			data += strings.TrimPrefix(line, "data: ") + "\n"
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return "", ""
}

func (w *world) serve() *httptest.Server {
	server := httptest.NewServer(w.board)
	w.t.Cleanup(func() {
		server.CloseClientConnections() // browsers keep some in reserve
		server.Close()
	})
	w.t.Cleanup(func() { w.board.Close() }) // before that of the server, which waits for streams
	return server
}

func TestLive_Run(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 3)
	info, err := w.p.Look(t.Context(), "shop-1")
	if err != nil {
		t.Fatal(err)
	}
	lines := w.follow(w.serve(), "/live/run?of=shop-1&version="+strings.ReplaceAll(info.ETag, `"`, "%22"))
	if err := w.p.Cancel(t.Context(), "shop-1", "", "ada", ""); err != nil {
		t.Fatal(err)
	}
	name, data := event(t, lines)
	if name != "part" || !strings.Contains(data, `id="run-live" data-live`) || !strings.Contains(data, "Canceled") || !strings.Contains(data, "1 of 1 event") {
		t.Errorf("event %s: %s, want the part of the page that says canceled", name, data)
	}
	if info, err = w.p.Look(t.Context(), "shop-1"); err != nil {
		t.Fatal(err)
	}
	if name, data := event(t, lines); name != "change" || data != info.ETag+"\n" {
		t.Errorf("event %s: %s, want change to %s", name, data, info.ETag)
	}
	if _, err := w.p.Purge(t.Context(), "shop-1"); err != nil {
		t.Fatal(err)
	}
	for {
		// The purge itself may be seen on its way.
		if _, data := event(t, lines); strings.HasPrefix(data, "error: no such run") {
			return
		}
	}
}

func TestLive_Lists(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	server := w.serve()
	for _, test := range []struct {
		path   string
		change func()
	}{
		{"/live/runs", func() { w.start("shop-1", 1) }},
		{"/live/leases", func() { hold(t, w, "locks/mine") }},
		{"/live/workers", func() { w.work() }},
	} {
		lines := w.follow(server, test.path)
		_, before := event(t, lines)
		test.change()
		if name, after := event(t, lines); name != "change" || after == before {
			t.Errorf("%s: event %s %q after %q, want a change", test.path, name, after, before)
		}
	}
}

func TestLive_CloseEndsStreams(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	lines := w.follow(w.serve(), "/live/runs")
	event(t, lines)
	if err := w.board.Close(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream ended with %v, want its end", err)
	}
}

// A page shows the version that its event stream begins with, so that it is loaded
// anew only when something has changed.
func TestLive_VersionOfPages(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 1)
	hold(t, w, "workers/w")
	server := w.serve()
	for _, path := range []string{
		"/", "/runs/shop-1", "/pipelines", "/pipelines/" + strings.TrimPrefix(shop(t).Definition(), "sha256:"), "/workers", "/leases",
	} {
		_, rest, _ := strings.Cut(w.page(path), `data-stream="`)
		stream, rest, _ := strings.Cut(rest, `" data-version="`)
		version, _, _ := strings.Cut(rest, `"`)
		lines := w.follow(server, html.UnescapeString(stream))
		name, data := event(t, lines)
		if name == "part" {
			_, data = event(t, lines)
		}
		if got := strings.TrimSpace(data); got != html.UnescapeString(version) {
			t.Errorf("%s shows version %s, and %s begins with %s", path, version, stream, got)
		}
	}
}
