package pipeline_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func TestHTTP_Output(t *testing.T) {
	for _, c := range []struct {
		output string
		status int
		body   string
		want   any
	}{
		{"json", 200, `{"a": [12345678901234567890, "<"]}`, complete(`{"a":[12345678901234567890,"<"]}`)},
		{"json", 201, `"x"`, complete(`"x"`)},
		{"json", 200, ``, complete(`null`)},
		{"json", 202, " \n", complete(`null`)},
		{"json", 204, ``, complete(`null`)},
		{"json", 200, `<html>`, `POST URL: output is not one JSON value: invalid character '<' looking for beginning of value: "<html>"`},
		{"json", 200, `{"a":`, `POST URL: output is not one JSON value: unexpected end of JSON input`},
		{"json", 200, "\"\xff\"", `POST URL: output is not UTF-8 at byte 1`},
		{"lines", 200, "a\r\nb\n", complete(`["a","b"]`)},
		{"lines", 204, ``, complete(`[]`)},
		{"ndjson", 200, "1\n{\"a\": 2}\n", complete(`[1,{"a":2}]`)},
		{"text", 200, "Přeh\n", complete(`"Přeh\n"`)},
		{"text", 200, "\x89PNG", `POST URL: output is not UTF-8 at byte 0`},
		{"outcome", 200, `{"next": {"step": "A", "message": 1, "delay": "5s"}}`, processor.Next("A", message("1")).Delay(5 * time.Second)},
		{"outcome", 200, `{"abort": "no such city"}`, `abort: no such city`},
		{"outcome", 204, ``, `output is no outcome: want one of complete`},
	} {
		t.Run(c.output+" "+c.body, func(t *testing.T) {
			url := serve(t, answering(c.status, nil, c.body))
			if text, ok := c.want.(string); ok {
				c.want = strings.Replace(text, "URL", url, 1)
			}
			got, err := handle(t, posting(url, "", "output: "+c.output), task("A", "1"), nil)
			check(t, got, err, c.want)
		})
	}
}

// What is retried and what is not; the reason has the beginning of the body.
func TestHTTP_Status(t *testing.T) {
	long := strings.Repeat("ř", 300)
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   string
	}{
		{"300", 300, nil, "", "abort: POST URL: 300 Multiple Choices to no known place: a redirect is not followed"},
		{"301", 301, http.Header{"Location": {"https://user:pass@other.example:8443/x?key=secret"}}, "moved", "abort: POST URL: 301 Moved Permanently to other.example:8443: a redirect is not followed"},
		{"303", 303, http.Header{"Location": {"/y?key=secret"}}, "", "abort: POST URL: 303 See Other to 127.0.0.1:"},
		{"307", 307, http.Header{"Location": {"%zz://secret"}}, "", "abort: POST URL: 307 Temporary Redirect to no known place: a redirect is not followed"},
		{"400", 400, nil, `{"error": "no city"}`, `abort: POST URL: 400 Bad Request: {"error": "no city"}`},
		{"401", 401, nil, "", "abort: POST URL: 401 Unauthorized"},
		{"404", 404, nil, " not here\n", "abort: POST URL: 404 Not Found: not here"},
		{"408", 408, nil, "", "POST URL: 408 Request Timeout"},
		{"409", 409, nil, "exists", "abort: POST URL: 409 Conflict: exists"},
		{"422", 422, nil, long, "abort: POST URL: 422 Unprocessable Entity: " + long[:512]},
		{"425", 425, nil, "", "POST URL: 425 Too Early"},
		{"429", 429, nil, "slower", "POST URL: 429 Too Many Requests: slower"},
		{"499", 499, nil, "", "abort: POST URL: 499"},
		{"500", 500, nil, "a\xffb", "POST URL: 500 Internal Server Error: a\ufffdb"},
		{"503", 503, nil, "down", "POST URL: 503 Service Unavailable: down"},
		{"600", 600, nil, "", "POST URL: 600"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, answering(c.status, c.header, c.body))
			got, err := handle(t, posting(url, ""), task("A", "1"), nil)
			want := strings.Replace(c.want, "URL", url, 1)
			check(t, got, err, want)
			text := reasonOf(got)
			if err != nil {
				text = err.Error()
			}
			if strings.Contains(text, "secret") || len(text) > 700 {
				t.Errorf("error of %d bytes = %q, want a short one without secrets", len(text), text)
			}
		})
	}
}

// A redirect is no second request.
func TestHTTP_RedirectIsNotFollowed(t *testing.T) {
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusPermanentRedirect) })
	got, err := handle(t, posting(url, ""), task("A", "1"), nil)
	check(t, got, err, "abort: POST "+url+": 308 Permanent Redirect to "+strings.TrimPrefix(other, "http://")+": a redirect")
}

func TestHTTP_RetryAfter(t *testing.T) {
	const date = "Mon, 30 Nov 2026 07:00:00 GMT"
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		want   time.Duration // 0: none is asked for
	}{
		{"seconds", 429, http.Header{"Retry-After": {"120"}}, 2 * time.Minute},
		{"with 503", 503, http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"with 408", 408, http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"a date", 429, http.Header{"Retry-After": {"Mon, 30 Nov 2026 07:01:30 GMT"}, "Date": {date}}, 90 * time.Second},
		{"a date that has passed", 429, http.Header{"Retry-After": {"Mon, 30 Nov 2026 06:00:00 GMT"}, "Date": {date}}, 0},
		{"a date by the worker's clock", 429, http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:05:00 GMT"}}, 5 * time.Minute},
		{"zero", 429, http.Header{"Retry-After": {"0"}}, 0},
		{"negative", 429, http.Header{"Retry-After": {"-5"}}, 0},
		{"not a number", 429, http.Header{"Retry-After": {"soon"}}, 0},
		{"no longer a number", 429, http.Header{"Retry-After": {"99999999999999999999"}}, 0},
		{"none", 429, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &pipeline.Options{Transport: inProcess(answering(c.status, c.header, "busy"))}
				_, err := handle(t, posting("http://example.com", ""), task("A", "1"), o)
				after := time.Duration(0)
				if e, ok := errors.AsType[*processor.RetryAfterError](err); ok {
					after = e.After
				}
				if err == nil || after != c.want {
					t.Errorf("handler = %v, asks for %s, want %s", err, after, c.want)
				}
			})
		})
	}
}

// No wait that a server asks for makes an answer that is final a failed attempt.
func TestHTTP_RetryAfterOfARefusal(t *testing.T) {
	url := serve(t, answering(404, http.Header{"Retry-After": {"120"}}, ""))
	got, err := handle(t, posting(url, ""), task("A", "1"), nil)
	check(t, got, err, "abort: POST "+url+": 404 Not Found")
}

// Through the processor, under fake time: the server says when, and is asked no
// sooner.
func TestHTTP_RetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		begin := time.Now()
		o := &pipeline.Options{Transport: inProcess(func(w http.ResponseWriter, _ *http.Request) {
			asked = append(asked, time.Since(begin).Round(time.Minute))
			if len(asked) < 3 {
				w.Header().Set("Retry-After", "600")
				w.WriteHeader(429)
				return
			}
			io.WriteString(w, `"at last"`)
		})}
		end, _ := runAlone(t, parse(t, posting("http://example.com", ""), o), nil)
		if end.Status != eventstream.Completed || string(end.Output) != `"at last"` {
			t.Errorf("run ended %s with %s (%s)", end.Status, end.Output, end.Msg)
		}
		if len(asked) != 3 || asked[0] != 0 || asked[1] != 10*time.Minute || asked[2] != 20*time.Minute {
			t.Errorf("requests came after %v, want 0, 10 and 20 minutes", asked)
		}
	})
}

// runAlone runs a pipeline in memory, by one worker, to its end. It returns also
// all that is then in the store.
func runAlone(t *testing.T, pl *processor.Pipeline, log *slog.Logger) (*processor.End, string) {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc := scope.New(st, nil)
	p := processor.New(sc, &processor.Options{Logger: log})
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- p.Work(ctx, nil, pl) }()
	defer func() {
		stop()
		if err := errors.Join(<-worked, sc.Close()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := p.Start(t.Context(), pl, json.RawMessage(`1`), &processor.StartOptions{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	end, err := p.Await(t.Context(), "r", nil)
	if err != nil {
		t.Fatal(err)
	}
	return end, stored(t, st)
}

func stored(t *testing.T, st store.Store) string {
	t.Helper()
	var all strings.Builder
	for info, err := range st.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		object, err := st.Get(t.Context(), info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %v\n%s\n", info.Name, info.Metadata, object.Body)
	}
	return all.String()
}

func TestHTTP_HugeAnswer(t *testing.T) {
	small := &pipeline.Options{MaxOutput: 1000}
	fits := serve(t, answering(200, nil, `"`+strings.Repeat("x", 998)+`"`))
	got, err := handle(t, posting(fits, ""), task("A", "1"), small)
	check(t, got, err, complete(`"`+strings.Repeat("x", 998)+`"`))

	endless := func(w io.Writer) {
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"endless":    {func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "abort: output is larger than 1000 bytes; let it go to a file"},
		"a byte":     {answering(200, nil, strings.Repeat("x", 1001)), "abort: output is larger than 1000 bytes; let it go to a file"},
		"an error's": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); endless(w) }, "500 Internal Server Error: " + strings.Repeat("x", 512)},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w) // 100 kB in some hundred bytes
			defer z.Close()
			io.WriteString(z, strings.Repeat("x", 100_000))
		}, "abort: output is larger than 1000 bytes; let it go to a file"},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, c.handler)
			got, err := handle(t, posting(url, ""), task("A", "1"), small)
			reason, isAbort := strings.CutPrefix(c.want, "abort: ")
			want := "POST " + url + ": " + reason
			if isAbort {
				want = "abort: " + want
			}
			check(t, got, err, want)
		})
	}
}
