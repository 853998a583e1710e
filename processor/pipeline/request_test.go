package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// serve starts a server, on a socket, and returns its URL.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// answering is a server that always answers the same.
func answering(status int, header http.Header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// posting is the text of a pipeline whose step A posts to a URL, with more keys
// in the mapping of http and in the step.
func posting(url, http string, step ...string) string {
	return single(append([]string{`http: {url: "` + url + `"` + http + `}`}, step...)...)
}

// carrier carries requests without sockets.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// inProcess is a carrier to a handler, which has to answer at once.
func inProcess(handler http.HandlerFunc) carrier {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler(w, r)
		return w.Result(), nil
	}
}

func TestHTTP_Event(t *testing.T) {
	results := []processor.Result{
		{ID: "01.00", Status: "completed", Output: []byte(`{"n": 12345678901234567890}`)},
		{ID: "02.00", Status: "aborted", Error: "no such city"},
	}
	for _, c := range []struct {
		name, more, data string
		task             *processor.Task
	}{
		{"message", "output: json", `{"a":12345678901234567890,"b":"<é>"}`, task("Join", `{"a": 12345678901234567890, "b": "<é>"}`)},
		{"no message", "output: json", `null`, task("Join", ``)},
		{"shaped", "input: .a", `1`, task("Join", `{"a":1}`)},
		{"join", "results: all", `{"input":"in","results":[{"id":"01.00","status":"completed","output":{"n":12345678901234567890}},{"id":"02.00","status":"aborted","error":"no such city"}]}`, join("Join", `"in"`, results...)},
		{"errors", "results: errors", `{"input":"in","results":[{"id":"02.00","status":"aborted","error":"no such city"}]}`, join("Join", `"in"`, results...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got event.Event
			var data struct{ Data json.RawMessage }
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/cloudevents+json" || r.ContentLength < 1 {
					t.Errorf("request = %s with content type %q and %d bytes", r.Method, r.Header.Get("Content-Type"), r.ContentLength)
				}
				body, _ := io.ReadAll(r.Body)
				if err := errors.Join(json.Unmarshal(body, &got), got.Validate(), json.Unmarshal(body, &data)); err != nil {
					t.Errorf("event %s: %v", body, err)
				}
			})
			outcome, err := handle(t, joining(`http: {url: "`+url+`"}`, c.more), c.task, nil)
			check(t, outcome, err, complete("null"))
			want := event.New()
			want.SetID("k3v9x2/01.00")
			want.SetType("com.github.leasestream.step")
			want.SetSource("leasestream/p")
			want.SetSubject("Join")
			want.SetDataContentType("application/json")
			want.SetExtension("stream", "order-42")
			want.SetExtension("run", "k3v9x2")
			want.SetExtension("event", "01.00")
			want.SetExtension("attempt", 2)
			if got.Context.String() != want.Context.String() {
				t.Errorf("event =\n%s, want\n%s", got.Context, want.Context)
			}
			if string(data.Data) != c.data {
				t.Errorf("data = %s, want %s", data.Data, c.data)
			}
		})
	}
}

func TestHTTP_ResultsBreakOff(t *testing.T) {
	broken := join("Join", `1`)
	broken.SetResults(failing(errors.New("blob is gone")))
	got, err := handle(t, joining(`http: {url: "http://example.com"}`), broken, &pipeline.Options{Transport: carrier(nil)})
	check(t, got, err, "results of the branches: blob is gone")
}

func TestHTTP_WhatComesNext(t *testing.T) {
	url := serve(t, answering(200, nil, `{"complete": [1,2]}`))
	for _, c := range []struct {
		more string
		want any
	}{
		{"output: outcome", complete(`[1,2]`)},
		{"next: A", processor.Next("A", message(`{"complete":[1,2]}`))},
		{"split: {to: A}", `a split needs an array of messages`},
	} {
		got, err := handle(t, posting(url, "", c.more), task("A", "1"), nil)
		check(t, got, err, c.want)
	}
}

func TestHTTP_NetworkErrors(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://user:pass@" + closed.Addr().String() + "/a/b?key=secret"
	closed.Close()
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
	})
	dropping := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	plain := strings.Replace(serve(t, answering(200, nil, "")), "http:", "https:", 1)
	for _, c := range []struct{ name, url, want string }{
		{"refused", refusing, "POST http://" + closed.Addr().String() + "/a/b?…: dial tcp " + closed.Addr().String() + ": connect: connection refused"},
		{"broken off", broken, "POST " + broken + ": unexpected EOF"},
		{"dropped", dropping, "POST " + dropping + ": EOF"},
		{"no TLS", plain, "POST " + plain + ": tls: first record does not look like a TLS handshake"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := handle(t, posting(c.url, ""), task("A", "1"), nil)
			check(t, got, err, c.want)
			if err != nil && strings.Contains(err.Error(), "secret") || err != nil && strings.Contains(err.Error(), "pass") {
				t.Errorf("error %q tells a secret", err)
			}
		})
	}
}

// A server that takes the connection for something else leaves nothing to read,
// and must not hold the worker.
func TestHTTP_SwitchedProtocol(t *testing.T) {
	over := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		<-over
	})
	defer close(over)
	got, err := handle(t, posting(url, ", timeout: 5s"), task("A", "1"), nil)
	check(t, got, err, "POST "+url+": 101 Switching Protocols")
}

// hang is a carrier to a server that takes a request and does not answer it.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// trickle is a carrier to a server that answers a byte a second, without end.
func trickle(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(slow{r.Context()})}, nil
}

type slow struct{ ctx context.Context }

func (s slow) Read(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, " "), nil
	}
}

func TestHTTP_Timeout(t *testing.T) {
	for name, server := range map[string]carrier{"hangs": hang, "trickles": trickle} {
		for _, c := range []struct {
			name, http, step string
			want             time.Duration
		}{
			{"by itself", "", "output: json", 30 * time.Second},
			{"of the request", ", timeout: 5s", "timeout: 1m", 5 * time.Second},
			{"of the step", "", "timeout: 2m", 2 * time.Minute},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := parse(t, posting("http://example.com/?a=b", c.http, c.step), &pipeline.Options{Transport: server})
					begin := time.Now()
					got, err := p.Step("A").Handler(t.Context(), task("A", "1"))
					check(t, got, err, "POST http://example.com/?…: no full answer within "+c.want.String())
					if took := time.Since(begin); took < c.want || took > c.want+time.Second {
						t.Errorf("the attempt took %s, want %s", took, c.want)
					}
				})
			})
		}
	}
}

func TestHTTP_EndsWithItsContext(t *testing.T) {
	for name, server := range map[string]carrier{"hangs": hang, "trickles": trickle} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := errors.New("lease lost")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(cause) })
				begin := time.Now()
				_, err := parse(t, posting("http://example.com", ""), &pipeline.Options{Transport: server}).Step("A").Handler(ctx, task("A", "1"))
				if !errors.Is(err, cause) || time.Since(begin) > 4*time.Second {
					t.Errorf("handler = %v after %s, want %v after 3s", err, time.Since(begin), cause)
				}
			})
		})
	}
}

// On a socket too: the server sees the connection go.
func TestHTTP_CancelReachesTheServer(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then is the connection watched
		close(arrived)
		<-r.Context().Done()
		close(gone)
	})
	cause := errors.New("canceled by hand")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(cause)
	}()
	_, err := parse(t, posting(url, ""), nil).Step("A").Handler(ctx, task("A", "1"))
	if !errors.Is(err, cause) {
		t.Errorf("handler = %v, want %v", err, cause)
	}
	<-gone
}

// A pipeline keeps its connections, also after answers that are failures.
func TestHTTP_KeepsConnections(t *testing.T) {
	var connections atomic.Int32
	statuses := []int{200, 204, 404, 500, 302}
	var next atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(statuses[int(next.Add(1))%len(statuses)])
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	p := parse(t, "name: p\nsteps:\n  - {name: A, http: {url: '"+server.URL+"/a'}, next: B}\n  - {name: B, http: {url: '"+server.URL+"/b'}}\n", nil)
	for range 10 {
		p.Step("A").Handler(t.Context(), task("A", "1"))
		p.Step("B").Handler(t.Context(), task("B", "1"))
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("20 requests, one after the other, took %d connections, want 1", n)
	}
}
