package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
)

// measured is a pipeline that splits twice. The first attempt of the number 3
// fails; the others wait for each other, so that two workers with one slot take
// part, and for the file gate. Each leaves its TRACEPARENT behind.
const measured = `
name: measured
steps:
  - name: Outer
    jq: '[[1, 2], [3]]'
    split: {to: Inner, join: Total}
  - name: Inner
    jq: .
    split: {to: Square, join: Sum}
  - name: Square
    exec: [sh, square.sh, '{{.Input}}']
    retry: {attempts: 2, backoff: 10ms}
  - name: Sum
    jq: '[.results[].output] | add'
  - name: Total
    jq: '[.results[].output] | add'
`

const squareScript = `
echo $TRACEPARENT >traceparent.$LEASESTREAM_EVENT.$LEASESTREAM_ATTEMPT
if [ $1.$LEASESTREAM_ATTEMPT = 3.1 ]; then exit 1; fi
touch at.$LEASESTREAM_EVENT
until [ -e gate ] && [ $(ls at.* | wc -l) -ge 2 ]; do sleep 0.02; done
echo $(($1 * $1))
`

// exported runs the pipeline measured in three processes — one starts it, two
// work — and returns the folder, what they exported, and what the workers logged.
func exported(t *testing.T) (folder, *collector, string) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.url)
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "100")
	t.Setenv("LEASESTREAM_LOG_FORMAT", "json")
	t.Setenv("LEASESTREAM_LOG_LEVEL", "info")
	f := newFolder(t, measured)
	f.write("square.sh", squareScript)
	f.run("start", "pipeline.yaml", "--name", "r")
	worker := f.start("work", "pipeline.yaml", "--workers", "1", "--id", "w")
	runner := f.start("run", "pipeline.yaml", "--name", "r", "--workers", "1")
	c.await("leasestream.processor.open_events", map[string]string{"leasestream.state": "running", "leasestream.step": "Square"}, 2)
	f.write("gate", "")
	code, stdout, log := runner.wait()
	if code != 0 || stdout != "14\n" {
		t.Fatalf("run = %d, %q, %q, want 0 and 14", code, stdout, log)
	}
	worker.signal(syscall.SIGTERM)
	code, _, more := worker.wait()
	if code != 0 {
		t.Fatalf("work = %d, %s", code, more)
	}
	return f, c, log + "\n" + more
}

// attemptsOf counts the attempts of each event of the run, and tells what each
// event follows.
func attemptsOf(t *testing.T, f folder) (attempts map[string]int, prev map[string]string) {
	t.Helper()
	_, stdout, _ := f.run("show", "r", "--format", "json")
	var run struct {
		Events []struct {
			ID, Prev string
			Attempt  int
		}
	}
	if err := json.Unmarshal([]byte(stdout), &run); err != nil {
		t.Fatal(err)
	}
	attempts, prev = map[string]int{}, map[string]string{}
	for _, e := range run.Events {
		attempts[e.ID], prev[e.ID] = e.Attempt, e.Prev
	}
	return attempts, prev
}

func TestTelemetry_OfARun(t *testing.T) {
	f, c, log := exported(t)
	attempts, prev := attemptsOf(t, f)
	t.Run("trace", func(t *testing.T) { c.wantTrace(t, f, attempts, prev) })
	t.Run("metrics", func(t *testing.T) { c.wantMetrics(t, attempts) })
	t.Run("as documented", func(t *testing.T) { c.wantDocumented(t) })
	t.Run("log", func(t *testing.T) { c.wantLogged(t, log) })
}

// wantTrace checks that there is one trace, whole, over the processes: a span for
// the start and for each attempt, each below the attempt that made its event.
func (c *collector) wantTrace(t *testing.T, f folder, attempts map[string]int, prev map[string]string) {
	byAttempt := map[string]*tracev1.Span{}
	workers := map[string]bool{}
	for _, span := range c.spans {
		attrs := attributesOf(span.Attributes)
		byAttempt[attrs["leasestream.event"]+"."+attrs["leasestream.attempt"]] = span
		if worker := attrs["leasestream.worker"]; worker != "" {
			workers[worker] = true
		}
		if attrs["leasestream.stream"] != "r" || attrs["leasestream.pipeline"] != "measured" {
			t.Errorf("span %s has attributes %v", span.Name, attrs)
		}
	}
	start := byAttempt["."]
	if start == nil || start.Name != "start measured" || len(start.ParentSpanId) > 0 {
		t.Fatalf("the trace begins with %v, want start measured", start)
	}
	want := 1
	for id, n := range attempts {
		parent := start
		if prev[id] != "" {
			parent = byAttempt[fmt.Sprint(prev[id], ".", attempts[prev[id]])]
		}
		for i := range n {
			want++
			span := byAttempt[fmt.Sprint(id, ".", i+1)]
			if span == nil || string(span.ParentSpanId) != string(parent.SpanId) || string(span.TraceId) != string(start.TraceId) {
				t.Errorf("span of event %s attempt %d is %v, want it below %v", id, i+1, span, parent)
			}
		}
	}
	if len(c.spans) != want || len(workers) != 2 {
		t.Errorf("%d spans by workers %v, want %d by two", len(c.spans), workers, want)
	}
	failed := byAttempt["02.01.00.1"]
	if failed.Status.GetCode() != tracev1.Status_STATUS_CODE_ERROR || !strings.Contains(failed.Status.Message, "exit status 1") {
		t.Errorf("the span of the failed attempt has status %v", failed.Status)
	}
	for _, id := range []string{"01.01.00.1", "02.01.00.1", "02.01.00.2"} {
		span := byAttempt[id]
		want := fmt.Sprintf("00-%s-%s-01\n", hex.EncodeToString(span.TraceId), hex.EncodeToString(span.SpanId))
		if got := f.read("traceparent." + id); got != want {
			t.Errorf("the program of attempt %s has TRACEPARENT %q, want %q", id, got, want)
		}
	}
}

// wantMetrics checks the metrics against the document of the run.
func (c *collector) wantMetrics(t *testing.T, attempts map[string]int) {
	total := 0
	for _, n := range attempts {
		total += n
	}
	for _, want := range []struct {
		metric string
		attrs  map[string]string
		value  int
	}{
		{"leasestream.processor.claims", nil, total},
		{"leasestream.processor.outcomes", nil, total},
		{"leasestream.processor.attempt.duration", nil, total},
		{"leasestream.processor.claims", map[string]string{"leasestream.step": "Square"}, 4},
		{"leasestream.processor.outcomes", map[string]string{"leasestream.outcome": "split"}, 3},
		{"leasestream.processor.retries", map[string]string{"leasestream.cause": "error", "leasestream.step": "Square"}, 1},
		{"leasestream.scope.lost", nil, 0},
		{"leasestream.processor.open_runs", nil, 0},
	} {
		if got := c.sum(want.metric, want.attrs); got != int64(want.value) {
			t.Errorf("%s %v = %d, want %d", want.metric, want.attrs, got, want.value)
		}
	}
	edits, commits := c.sum("leasestream.scope.edits", nil), c.sum("leasestream.scope.commits", nil)
	if batches := c.sum("leasestream.scope.batch", nil); edits < int64(total) || commits > edits || batches != commits {
		t.Errorf("%d edits in %d uploads, %d of them measured, for %d outcomes", edits, commits, batches, total)
	}
	for s, p := range c.metrics {
		for name := range p.attrs {
			if !slices.Contains([]string{"leasestream.pipeline", "leasestream.step", "leasestream.outcome", "leasestream.cause", "leasestream.state"}, name) {
				t.Errorf("metric %s has the attribute %s: there may be too many of those", s.metric, name)
			}
		}
	}
}

// wantLogged checks that the failed attempt was logged, with all that finds it.
func (c *collector) wantLogged(t *testing.T, log string) {
	for line := range strings.Lines(log) {
		var got map[string]any
		if json.Unmarshal([]byte(line), &got) != nil || got["msg"] != "attempt failed" {
			continue
		}
		for _, span := range c.spans {
			if hex.EncodeToString(span.SpanId) != got["span_id"] || hex.EncodeToString(span.TraceId) != got["trace_id"] {
				continue
			}
			attrs := attributesOf(span.Attributes)
			for _, name := range []string{"stream", "event", "step", "attempt", "worker", "outcome"} {
				if want := attrs["leasestream."+name]; fmt.Sprint(got[name]) != want {
					t.Errorf("log has %s=%v, want %s as its span: %s", name, got[name], want, line)
				}
			}
			return
		}
		t.Errorf("log has a line of no span: %s", line)
	}
	t.Errorf("log has no line of the failed attempt and its span: %s", log)
}

var (
	metricRow    = regexp.MustCompile("(?m)^\\| `(leasestream\\.[a-z._]+)` \\| ([a-z]+) \\| `([^`]+)` \\|")
	spanRow      = regexp.MustCompile("(?m)^\\| `([a-z]+) [A-Z]+` \\| ([a-z]+) \\|")
	attributeRow = regexp.MustCompile("(?m)^\\| `(leasestream\\.[a-z]+)` \\| [^|]+ \\|$")
)

// wantDocumented compares all that was exported with what processor/telemetry.md says:
// neither may have more than the other.
func (c *collector) wantDocumented(t *testing.T) {
	page, err := os.ReadFile("../../processor/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, row := range metricRow.FindAllStringSubmatch(string(page), -1) {
		documented["metric "+row[1]] = row[2] + " " + row[3]
	}
	for _, row := range spanRow.FindAllStringSubmatch(string(page), -1) {
		documented["span "+row[1]] = row[2]
	}
	for _, row := range attributeRow.FindAllStringSubmatch(string(page), -1) {
		documented["attribute "+row[1]] = ""
	}
	exported := map[string]string{}
	for name, kind := range c.kinds {
		exported["metric "+name] = kind
	}
	for _, span := range c.spans {
		verb, _, _ := strings.Cut(span.Name, " ")
		exported["span "+verb] = strings.ToLower(strings.TrimPrefix(span.Kind.String(), "SPAN_KIND_"))
		for name := range attributesOf(span.Attributes) {
			exported["attribute "+name] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if got, ok := exported[name]; !ok || got != documented[name] {
			t.Errorf("%s is exported as %q, documented as %q", name, got, documented[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exported)) {
		if _, ok := documented[name]; !ok {
			t.Errorf("%s is exported, but not documented", name)
		}
	}
}

func TestMetrics_AsPrometheusText(t *testing.T) {
	f := newFolder(t, squares)
	f.run("run", "pipeline.yaml", "--set", "n=4", "--name", "r") // makes the store
	worker := f.start("work", "pipeline.yaml", "--metrics", "127.0.0.1:0")
	worker.until("metrics are served")
	url := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(worker.said[len(worker.said)-1])[1]
	worker.until("worker started")
	f.run("start", "pipeline.yaml", "--set", "n=4", "--name", "s")
	f.run("run", "pipeline.yaml", "--set", "n=4", "--name", "s") // waits for its end
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"leasestream_scope_edits_total{", "leasestream_scope_lost_total{", "leasestream_scope_acquire_wait_seconds_bucket{",
		"leasestream_processor_sweep_duration_seconds_count{",
	} {
		if !strings.Contains(string(body), "\n"+want) {
			t.Errorf("GET %s gives %s, want %s in it", url, body, want)
		}
	}
	worker.signal(syscall.SIGTERM)
	if code, _, stderr := worker.wait(); code != 0 {
		t.Errorf("work = %d, %s", code, stderr)
	}
}

// Nobody answers: the run goes on, and what is said of it has no secret.
func TestTelemetry_NotExported(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2hunter2@127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=swordfish-swordfish")
	f := newFolder(t, squares)
	code, stdout, stderr := f.run("run", "pipeline.yaml", "--set", "n=4", "--name", "r")
	if code != 0 || stdout != "14\n" {
		t.Errorf("run = %d, %q, want 0 and 14; %s", code, stdout, stderr)
	}
	if !strings.Contains(stderr, "telemetry was not exported") || strings.Contains(stderr, "hunter2") || strings.Contains(stderr, "swordfish") {
		t.Errorf("standard error is %s, want that telemetry was not exported, without secrets", stderr)
	}
}

func TestMetrics_WrongAddress(t *testing.T) {
	f := newFolder(t, squares)
	code, _, stderr := f.run("run", "pipeline.yaml", "--metrics", "9464")
	if want := `"9464" is not HOST:PORT or :PORT`; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("run = %d, %q, want 2 and %s", code, stderr, want)
	}
}
