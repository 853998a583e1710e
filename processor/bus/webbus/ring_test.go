package webbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

// some returns doorbells for a step.
func some(step string, n int) []bus.Doorbell {
	bells := make([]bus.Doorbell, n)
	for i := range bells {
		bells[i] = bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(i), Step: step}
	}
	return bells
}

// fixed is Peers with the same answer for all doorbells.
func fixed(urls ...string) func(context.Context, bus.Doorbell) ([]string, error) {
	return func(context.Context, bus.Doorbell) ([]string, error) { return urls, nil }
}

// What goes over the wire is a batch of valid CloudEvents.
func TestRing_PostsCloudEvents(t *testing.T) {
	var got []cloudevents.Event
	var header http.Header
	var target string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("body %s: %v", body, err)
		}
		header, target = r.Header, r.Method+" "+r.RequestURI
	}))
	defer s.Close()
	b := newBus(t, &webbus.Options{Peers: fixed(s.URL + "/doorbells?worker=1"), Source: "urn:worker:7"})
	bells := some("Search", 2)
	if err := b.Ring(t.Context(), bells...); err != nil {
		t.Fatal(err)
	}
	if want := "POST /doorbells?worker=1"; target != want {
		t.Errorf("request = %s, want %s", target, want)
	}
	if got, want := header.Get("Authorization"), "Bearer "+token; got != want {
		t.Errorf("Authorization = %q, want %q", got, want)
	}
	if got, want := header.Get("Content-Type"), "application/cloudevents-batch+json"; got != want {
		t.Errorf("Content-Type = %q, want %q", got, want)
	}
	if len(got) != len(bells) {
		t.Fatalf("%d events, want %d", len(got), len(bells))
	}
	ids := map[string]bool{}
	for i, e := range got {
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
		var bell bus.Doorbell
		if err := e.DataAs(&bell); err != nil || bell != bells[i] {
			t.Errorf("data of event %d = %+v, %v, want %+v", i, bell, err, bells[i])
		}
		if e.Type() != webbus.EventType || e.Source() != "urn:worker:7" {
			t.Errorf("event %d = %v", i, e)
		}
		ids[e.ID()] = true
	}
	if len(ids) != len(got) {
		t.Errorf("%d events with %d IDs", len(got), len(ids))
	}
}

// Many doorbells for one step wake many workers, with a request for each.
func TestRing_DealsOut(t *testing.T) {
	const workers = 4
	var requests, bells [workers]atomic.Int64
	var urls []string
	for i := range workers {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			requests[i].Add(1)
			var events []cloudevents.Event
			body, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(body, &events); err != nil {
				t.Error(err)
			}
			bells[i].Add(int64(len(events)))
		}))
		defer s.Close()
		urls = append(urls, s.URL)
	}
	b := newBus(t, &webbus.Options{Peers: fixed(urls...), Timeout: time.Minute})
	if err := b.Ring(t.Context(), some("Search", 40)...); err != nil {
		t.Fatal(err)
	}
	if err := b.Ring(t.Context(), bus.Doorbell{Stream: "order-42"}); err != nil {
		t.Fatal(err)
	}
	for i := range workers {
		if requests, bells := requests[i].Load(), bells[i].Load(); requests != 2 || bells != 11 {
			t.Errorf("worker %d got %d doorbells in %d requests, want 11 in 2", i, bells, requests)
		}
	}
}

func TestRing_Errors(t *testing.T) {
	answer := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		return s.URL + "/secret-path"
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	var stolen atomic.Bool
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Store(true) }))
	defer thief.Close()
	redirect := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	host := func(url string) string { return strings.TrimPrefix(strings.TrimSuffix(url, "/secret-path"), "http://") }
	fine, refusing, broken := answer(http.StatusNoContent), answer(http.StatusUnauthorized), answer(http.StatusInternalServerError)
	const form = "not of the form http[s]://HOST"
	for _, c := range []struct {
		name  string
		peers []string
		want  []string // parts of the error; none: no error
	}{
		{"nobody serves the step", nil, nil},
		{"taken", []string{fine}, nil},
		{"another token", []string{refusing}, []string{host(refusing) + ": 401 Unauthorized; do all workers have the same token?"}},
		{"broken", []string{broken}, []string{host(broken) + ": 500 Internal Server Error"}},
		{"gone", []string{gone.URL + "/secret-path"}, []string{host(gone.URL), "refused"}},
		{"redirect", []string{redirect.URL}, []string{host(redirect.URL) + ": 307"}},
		{"some of many", []string{fine, refusing, broken, gone.URL}, []string{host(refusing), host(broken), host(gone.URL)}},
		{"no URL", []string{"http://user:pa55word@host:port/"}, []string{form}},
		{"no host", []string{"http:///path"}, []string{form}},
		{"no HTTP", []string{"file:///etc/passwd"}, []string{form}},
		{"empty", []string{""}, []string{form}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBus(t, &webbus.Options{Peers: fixed(c.peers...), Timeout: time.Minute})
			err := b.Ring(t.Context(), some("Search", 8)...)
			if len(c.want) == 0 && err != nil {
				t.Errorf("Ring() = %v, want nil", err)
			}
			for _, want := range c.want {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("Ring() = %v, want one with %q", err, want)
				}
			}
			for _, secret := range []string{token, "secret-path", "pa55word"} {
				if strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("Ring() = %v, which tells %q", err, secret)
				}
			}
		})
	}
	if stolen.Load() {
		t.Error("a redirect was followed")
	}
}

// That the workers for one step cannot be found costs the others nothing.
func TestRing_PeersError(t *testing.T) {
	broken := errors.New("the store is away")
	synctest.Test(t, func(t *testing.T) {
		n := inProcess()
		o := n.o
		b := newBus(t, &o)
		url := n.serve(b)
		e := listen(t, b, "Search")
		o.Peers = func(_ context.Context, bell bus.Doorbell) ([]string, error) {
			if bell.Step == "Done" {
				return nil, broken
			}
			return []string{url}, nil
		}
		err := newBus(t, &o).Ring(t.Context(), append(some("Done", 1), some("Search", 1)...)...)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), `"Done"`) {
			t.Errorf("Ring() = %v, want one that wraps %q and names the step", err, broken)
		}
		synctest.Wait()
		if got := e.take(); len(got) != 1 {
			t.Errorf("heard %v, want the doorbell for Search", got)
		}
	})
}

// hanging is a transport to workers that never answer. It counts those that wait
// at a time.
type hanging struct{ now, most, all atomic.Int64 }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.all.Add(1)
	h.most.Store(max(h.most.Load(), h.now.Add(1)))
	defer h.now.Add(-1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Workers that hang cost no more than the timeout, however many they are, and
// are asked once.
func TestRing_BoundedInTimeAndNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var urls []string
		for i := range 100 {
			urls = append(urls, fmt.Sprintf("http://worker-%d.test/", i))
		}
		var h hanging
		b := newBus(t, &webbus.Options{Peers: fixed(urls...), Timeout: 3 * time.Second, Parallel: 5, Transport: &h})
		start := time.Now()
		err := b.Ring(t.Context(), bus.Doorbell{Stream: "order-42"})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ring() = %v, want a deadline", err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("Ring took %v, want 3s", d)
		}
		if got := h.most.Load(); got != 5 {
			t.Errorf("%d requests at a time, want 5", got)
		}
		if got := h.all.Load(); got > 100 {
			t.Errorf("%d requests to 100 workers", got)
		}
	})
}

func TestRing_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b := newBus(t, &webbus.Options{Peers: fixed("http://worker.test/"), Transport: new(hanging)})
		start := time.Now()
		if err := b.Ring(ctx, some("Search", 1)...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ring() = %v, want a deadline", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("Ring took %v, want 1s", d)
		}
	})
}

func TestClose_EndsConnections(t *testing.T) {
	ended := make(chan struct{}, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	b := newBus(t, &webbus.Options{Peers: fixed(s.URL), Timeout: time.Minute})
	if err := b.Ring(t.Context(), some("Search", 1)...); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the connection of a closed bus is open")
	}
}

// A bus without peers only takes.
func TestRing_WithoutPeers(t *testing.T) {
	if err := newBus(t, nil).Ring(t.Context(), some("Search", 1)...); err != nil {
		t.Errorf("Ring() = %v, want nil", err)
	}
}

// The batches of one Ring are small enough for the handler.
func TestRing_LargeDoorbells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inProcess()
		receiver := newBus(t, &n.o)
		o := n.o
		o.Peers = fixed(n.serve(receiver))
		e := listen(t, receiver, "Search")
		bells := some("Search", 700)
		for i := range bells {
			bells[i].Event = strings.Repeat("01.", 1000) + fmt.Sprint(i)
		}
		if err := newBus(t, &o).Ring(t.Context(), bells...); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := len(e.take()); got != len(bells) {
			t.Errorf("heard %d doorbells, want %d", got, len(bells))
		}
	})
}
