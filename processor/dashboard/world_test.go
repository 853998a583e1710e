package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

const token = "correct-horse-battery-staple"

// world is a container with a dashboard on it.
type world struct {
	t     *testing.T
	st    store.Store
	p     *processor.Processor
	board *dashboard.Dashboard
	log   *lockedBuffer
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t *testing.T, o dashboard.Options) *world {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return newWorldOn(t, st, o)
}

func newWorldOn(t *testing.T, st store.Store, o dashboard.Options) *world {
	t.Helper()
	w := &world{t: t, st: st, log: &lockedBuffer{}}
	sc := scope.New(st, nil)
	w.p = processor.New(sc, nil)
	o.Logger = slog.New(slog.NewTextHandler(w.log, nil))
	if o.Pipelines == nil {
		o.Pipelines = []*processor.Pipeline{shop(t)}
	}
	w.board = dashboard.New(w.p, dashboard.Token(token, "operator"), &o)
	t.Cleanup(func() {
		if err := errors.Join(w.board.Close(), sc.Close()); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return w
}

// shop is the pipeline of most tests: prices of n things are asked for, one in
// three of which fails, added up, and approved by somebody outside.
func shop(t *testing.T) *processor.Pipeline {
	t.Helper()
	pl, err := processor.NewPipeline("shop", nil,
		processor.Step{Name: "Order", Handler: order},
		processor.Step{Name: "Price", Handler: price, Retry: processor.Retry{Attempts: 1}},
		processor.Step{Name: "Total", Handler: total},
		processor.Step{Name: "Approve", Handler: approve},
	)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

func order(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var n int
	if err := t.Decode(&n); err != nil {
		return processor.Outcome{}, err
	}
	messages := make([]any, n)
	for i := range messages {
		messages[i] = i
	}
	return processor.Split("Price", messages...).Join("Total"), nil
}

func price(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var n int
	if err := t.Decode(&n); err != nil || n%3 == 1 {
		return processor.Outcome{}, errors.Join(err, errors.New("no price for it"))
	}
	return processor.Complete(100 * n), nil
}

func total(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	sum := 0
	for r, err := range t.Results() {
		var n int
		if err != nil {
			return processor.Outcome{}, err
		}
		if r.OK() && r.Decode(&n) == nil {
			sum += n
		}
	}
	return processor.Next("Approve", sum), nil
}

func approve(context.Context, *processor.Task) (processor.Outcome, error) {
	return processor.Wait(0), nil
}

// start begins a run of the shop.
func (w *world) start(name string, n int) {
	w.t.Helper()
	input, err := json.Marshal(n)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.p.Start(w.t.Context(), shop(w.t), input, &processor.StartOptions{Name: name}); err != nil {
		w.t.Fatal(err)
	}
}

// work runs a worker until the test has ended, or the function it returns is
// called.
func (w *world) work() (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := w.p.Work(ctx, &processor.WorkOptions{ID: "worker-1", Slots: 4}, shop(w.t)); err != nil {
			w.t.Errorf("Work() = %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	w.t.Cleanup(stop)
	return stop
}

// until waits until a run is as it should be, which the test's own time limit ends.
func (w *world) until(name string, ok func(*eventstream.Stream) bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	_, err := w.p.Await(ctx, name, func(eventstream.Summary) {
		if ok(w.stream(name)) {
			cancel()
		}
	})
	if ctx.Err() == nil && !ok(w.stream(name)) {
		w.t.Fatalf("Await(%q) = %v, want the run to get there", name, err)
	}
}

// toApproval starts a run and lets it go as far as it can without help.
func (w *world) toApproval(name string, n int) {
	w.t.Helper()
	w.start(name, n)
	w.until(name, func(s *eventstream.Stream) bool { return s.Last().Name() == "Approve" && s.Last().Waiting() })
}

func (w *world) stream(name string) *eventstream.Stream {
	w.t.Helper()
	snapshot, err := w.p.Read(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return snapshot.Stream
}

// put writes a document as a foreign hand would.
func (w *world) put(blob, document string) {
	w.t.Helper()
	if _, err := w.st.Put(w.t.Context(), blob, []byte(document), nil); err != nil {
		w.t.Fatal(err)
	}
}

// answer is what the dashboard answers with.
type answer struct {
	*http.Response
	body string
}

// do sends a request with the token.
func (w *world) do(method, path string, form url.Values, more ...string) answer {
	w.t.Helper()
	return w.send(method, path, form, append([]string{"Authorization", "Bearer " + token}, more...)...)
}

// send sends a request with these headers and no others.
func (w *world) send(method, path string, form url.Values, headers ...string) answer {
	w.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	w.board.ServeHTTP(recorder, r)
	return answer{recorder.Result(), recorder.Body.String()}
}

func (w *world) get(path string) answer { w.t.Helper(); return w.do("GET", path, nil) }

// mainOf is what a page shows.
func mainOf(page string) string {
	_, content, _ := strings.Cut(page, "<main")
	return content
}

// page gets a page that must be there.
func (w *world) page(path string) string {
	w.t.Helper()
	a := w.get(path)
	if a.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s = %d, want 200: %.2000s", path, a.StatusCode, mainOf(a.body))
	}
	return a.body
}
