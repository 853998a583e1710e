package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// searchOrder is the pipeline of the screenshots: offers are searched for in many
// places at once, some of which do not answer.
const searchOrder = `name: search-order
steps:
  - name: Order
    jq: '[range(.places)] | map({place: .})'
    split: {to: Search, join: Cheapest}
  - name: Search
    exec: [sh, -c, 'n=$(tr -dc 0-9); sleep 0.$((n * 7 % 9)); [ $((n % 11)) -ne 4 ] || { echo "no answer from place $n" >&2; exit 1; }; echo "{\"price\": $((n * 37 % 101 + 100))}"']
    retry: {attempts: 2, backoff: 200ms}
    next: Rate
  - {name: Rate, jq: '{price: .price, stars: (.price % 5 + 1)}'}
  - {name: Cheapest, jq: '[.results[] | select(.status == "completed").output.price] | min', next: Approve}
  - {name: Approve, wait: {timeout: 24h}}
`

func drawSearchOrder([]byte) (*dashboard.Graph, error) {
	next := func(to string) []dashboard.GraphEdge {
		return []dashboard.GraphEdge{{To: to, Kind: dashboard.EdgeNext}}
	}
	return &dashboard.Graph{Steps: []dashboard.GraphStep{
		{Name: "Order", Kind: "jq", Edges: []dashboard.GraphEdge{{To: "Search", Kind: dashboard.EdgeSplit}, {To: "Cheapest", Kind: dashboard.EdgeJoin}}},
		{Name: "Search", Kind: "exec", Text: "sh -c …", Edges: next("Rate")},
		{Name: "Rate", Kind: "jq"},
		{Name: "Cheapest", Kind: "jq", Edges: next("Approve")},
		{Name: "Approve", Kind: "wait"},
	}}, nil
}

// TestScreenshots takes the pictures of the README, of a real run. They are left in
// the folder that LEASESTREAM_SCREENSHOTS names, if it does.
func TestScreenshots(t *testing.T) {
	pl, err := pipeline.Parse([]byte(searchOrder), nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dashboard.Options{Title: "sqlite:orders.db", Pipelines: []*processor.Pipeline{pl}, Describe: drawSearchOrder})
	w.run(pl)
	tb := newBrowser(t).tab(t, w.serve()).signIn()
	for _, shot := range []struct{ name, scheme, path, text string }{
		{"runs", "light", "/", "order-2041"},
		{"run", "light", "/runs/order-2041", "for someone outside to complete"},
		{"timeline", "dark", "/runs/order-2041/timeline?state=failed", "At work over time"},
		{"pipeline", "light", "/pipelines/" + strings.TrimPrefix(pl.Definition(), "sha256:") + "?from=order-2041", "Workers that share it"},
	} {
		tb.scheme(shot.scheme).open(shot.path)
		tb.sees(shot.text)
		tb.until(`document.getElementById("live-text").textContent === "Live"`)
		picture, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if config, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || config.Width < 1000 {
			t.Errorf("the picture of %s is %+v, %v, want a window full", shot.path, config, err)
		}
		if folder := os.Getenv("LEASESTREAM_SCREENSHOTS"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, shot.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	tb.wantNoMistakes()
}

// run starts a few runs and works on them until one waits for approval.
func (w *world) run(pl *processor.Pipeline) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := w.p.Work(ctx, &processor.WorkOptions{ID: "worker-brno", Slots: 8}, pl); err != nil {
			w.t.Errorf("Work() = %v", err)
		}
	})
	w.t.Cleanup(func() { cancel(); done.Wait() })
	for _, run := range []struct {
		name   string
		places int
		tags   map[string]string
	}{
		{"order-2038", 3, map[string]string{"customer": "acme"}},
		{"order-2039", 1, nil},
		{"order-2040", 5, map[string]string{"customer": "globex"}},
		{"order-2041", 40, map[string]string{"customer": "acme", "urgent": ""}},
	} {
		input, err := json.Marshal(map[string]int{"places": run.places})
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.p.Start(w.t.Context(), pl, input, &processor.StartOptions{Name: run.name, Tags: run.tags}); err != nil {
			w.t.Fatal(err)
		}
		w.until(run.name, func(s *eventstream.Stream) bool { return s.Last().Name() == "Approve" && s.Last().Waiting() })
	}
	for name, end := range map[string]func() error{
		"order-2038": func() error {
			return w.p.Complete(w.t.Context(), "order-2038", "", json.RawMessage(`{"approved":true}`), "ada")
		},
		"order-2039": func() error { return w.p.Cancel(w.t.Context(), "order-2039", "", "ada", "ordered twice") },
		"order-2040": func() error {
			return w.p.Complete(w.t.Context(), "order-2040", "", json.RawMessage(`{"approved":true}`), "ada")
		},
	} {
		if err := end(); err != nil {
			w.t.Fatalf("end of %s: %v", name, err)
		}
	}
}
