package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store/storetest"
)

// service keeps the bodies of the requests that it gets.
type service struct {
	*httptest.Server
	got func(body string) // called with each

	mu     sync.Mutex // guards the field below
	bodies []string
}

func newService(t *testing.T) *service {
	s := &service{got: func(string) {}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	s.got(string(body))
	fmt.Fprintf(w, "answer to %s", body)
}

func (s *service) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// carrier is a way to a service on which requests meet mishaps. settle returns
// when the late ones have arrived.
type carrier struct {
	client *http.Client
	url    string
	settle func()
	count  func() int
}

// way makes a carrier to a service. Late requests are late by the delay.
type way func(t *testing.T, s *service, delay time.Duration, hook storetest.HTTPHook) carrier

var ways = map[string]way{
	"transport": func(t *testing.T, s *service, delay time.Duration, hook storetest.HTTPHook) carrier {
		transport := storetest.NewTransport(s.Client().Transport, delay, hook)
		return carrier{&http.Client{Transport: transport}, s.URL, transport.Wait, transport.Requests}
	},
	"proxy": func(t *testing.T, s *service, delay time.Duration, hook storetest.HTTPHook) carrier {
		proxy, err := storetest.NewProxy(s.Listener.Addr().String(), delay, hook)
		if err != nil {
			t.Fatal(err)
		}
		settle := func() { proxy.Close() }
		t.Cleanup(settle)
		return carrier{s.Client(), "http://" + proxy.Addr(), settle, proxy.Requests}
	},
}

// put sends a request and returns its status and what was answered.
func (c carrier) put(ctx context.Context, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func eachWay(t *testing.T, f func(t *testing.T, over way)) {
	for name, over := range ways {
		t.Run(name, func(t *testing.T) { f(t, over) })
	}
}

// The second one of three requests meets with each of the mishaps.
func TestMishaps(t *testing.T) {
	answered := map[storetest.Mishap]int{
		storetest.None: http.StatusOK, storetest.Late: http.StatusOK,
		storetest.Busy: http.StatusServiceUnavailable, storetest.Unavailable: http.StatusServiceUnavailable,
	}
	eachWay(t, func(t *testing.T, over way) {
		for _, m := range append(storetest.Mishaps(), storetest.None) {
			t.Run(string(m), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := newService(t)
				s.got = func(body string) {
					if body == "two" && m == storetest.Stall {
						cancel()
					}
				}
				c := over(t, s, time.Millisecond, storetest.Only(2, m))
				mustAnswer(t, c, "one")
				status, answer, err := c.put(ctx, "two")
				if want := answered[m]; status != want && (want != 0 || err == nil) {
					t.Errorf("status = %d, %v, want %d", status, err, want)
				}
				if status == http.StatusOK && err == nil && answer != "answer to two" {
					t.Errorf("answer = %q", answer)
				}
				mustAnswer(t, c, "three")
				want := []string{"one", "two", "three"}
				if !m.CarriedOut() {
					want = []string{"one", "three"}
				}
				if got := s.seen(); !slices.Equal(got, want) {
					t.Errorf("the service got %q, want %q", got, want)
				}
				if got := c.count(); got != 3 {
					t.Errorf("Requests() = %d, want 3", got)
				}
			})
		}
	})
}

func mustAnswer(t *testing.T, c carrier, body string) {
	t.Helper()
	status, answer, err := c.put(t.Context(), body)
	if status != http.StatusOK || answer != "answer to "+body || err != nil {
		t.Errorf("put(%q) = %d %q, %v", body, status, answer, err)
	}
}

// What the client has given up arrives all the same, after what it sent next.
func TestMishaps_LateArrivesAfterAll(t *testing.T) {
	eachWay(t, func(t *testing.T, over way) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(t)
		next := make(chan struct{})
		s.got = func(body string) {
			if body == "next" {
				close(next)
			}
		}
		c := over(t, s, 0, func(n int, _ *http.Request) storetest.Mishap {
			if n > 1 {
				return storetest.None
			}
			cancel()
			<-next
			return storetest.Late
		})
		var late sync.WaitGroup
		late.Go(func() {
			if _, _, err := c.put(ctx, "late"); !errors.Is(err, context.Canceled) {
				t.Errorf("put() that was given up = %v, want %v", err, context.Canceled)
			}
		})
		<-ctx.Done()
		mustAnswer(t, c, "next")
		late.Wait()
		c.settle()
		if got, want := s.seen(), []string{"next", "late"}; !slices.Equal(got, want) {
			t.Errorf("the service got %q, want %q", got, want)
		}
	})
}

// An answer that is cut gives its beginning, so that a client cannot take it for
// one that never came.
func TestMishaps_CutAnswer(t *testing.T) {
	s := newService(t)
	c := ways["transport"](t, s, 0, storetest.Only(1, storetest.CutAnswer))
	status, answer, err := c.put(t.Context(), "one")
	if status != http.StatusOK || answer != "answer" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("put() = %d %q, %v; want the first half and %v", status, answer, err, io.ErrUnexpectedEOF)
	}
}

// A body that the service is asked about first comes through a proxy too, and an
// answer in pieces.
func TestProxy_PassesOnWhatComes(t *testing.T) {
	s := newService(t)
	c := ways["proxy"](t, s, 0, nil)
	body := strings.Repeat("0123456789", 30_000)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "100-continue")
	resp, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if want := "answer to " + body; string(got) != want || err != nil {
		t.Errorf("answer = %d bytes, %v; want %d", len(got), err, len(want))
	}
}

// A proxy that is closed breaks what is open and leaves nothing behind.
func TestProxy_Close(t *testing.T) {
	s := newService(t)
	stalled := make(chan struct{})
	s.got = func(string) { close(stalled) }
	c := ways["proxy"](t, s, 0, storetest.Only(1, storetest.Stall))
	var call sync.WaitGroup
	call.Go(func() {
		if _, _, err := c.put(t.Context(), "one"); err == nil {
			t.Error("put() through a proxy that was closed succeeds")
		}
	})
	<-stalled
	c.settle()
	call.Wait()
	if _, _, err := c.put(t.Context(), "two"); err == nil {
		t.Error("put() to a proxy that is closed succeeds")
	}
}

// handler answers requests within the process.
type handler func(*http.Request)

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	h(r)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// In a bubble the delay is of its time.
func TestTransport_LateInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var arrived time.Duration
		transport := storetest.NewTransport(handler(func(*http.Request) { arrived = time.Since(began) }),
			time.Minute, storetest.Only(1, storetest.Late))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := carrier{client: &http.Client{Transport: transport}, url: "http://service"}
		_, _, err := c.put(ctx, "late")
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("put() = %v after %v, want %v after 1s", err, took, context.DeadlineExceeded)
		}
		transport.Wait()
		if arrived != time.Minute {
			t.Errorf("the request arrived after %v, want 1m", arrived)
		}
	})
}
