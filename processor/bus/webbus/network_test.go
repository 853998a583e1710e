package webbus_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

const token = "0123456789abcdef"

// network is workers that know each other's URLs and steps, as they do from the
// blobs of workers.
type network struct {
	serve func(h http.Handler) (url string) // makes a handler reachable
	o     webbus.Options                    // of all buses

	mu      sync.Mutex // guards the field below
	workers map[*served]struct{}
}

// served is one call of Listen.
type served struct {
	url   string
	steps []string
}

// worker is a bus that publishes what it listens for.
type worker struct {
	*webbus.Bus
	net *network
	url string
}

func (n *network) join(t testing.TB) bus.Bus {
	o := n.o
	o.Peers = n.peers
	b, err := webbus.New(token, &o)
	if err != nil {
		t.Fatal(err)
	}
	return &worker{Bus: b, net: n, url: n.serve(b)}
}

func (n *network) peers(_ context.Context, bell bus.Doorbell) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var urls []string
	for w := range n.workers {
		if bell.Step == "" || slices.Contains(w.steps, bell.Step) {
			urls = append(urls, w.url)
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls), nil
}

func (w *worker) Listen(ctx context.Context, steps []string, f func(bus.Doorbell)) error {
	s := &served{url: w.url, steps: steps}
	w.net.set(s, true)
	defer w.net.set(s, false)
	return w.Bus.Listen(ctx, steps, f)
}

func (n *network) set(s *served, live bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !live {
		delete(n.workers, s)
		return
	}
	if n.workers == nil {
		n.workers = map[*served]struct{}{}
	}
	n.workers[s] = struct{}{}
}

// overSockets serves every bus on a port of its own.
func overSockets(t testing.TB) *network {
	return &network{serve: func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/doorbells"
	}}
}

// inProcess lets requests go to the handlers by calls, so that a bubble can hold
// them.
func inProcess() *network {
	t := &calls{hosts: map[string]http.Handler{}}
	return &network{serve: t.serve, o: webbus.Options{Transport: t}}
}

// calls is a transport whose requests are calls of handlers.
type calls struct {
	mu    sync.Mutex // guards the field below
	hosts map[string]http.Handler
}

func (c *calls) serve(h http.Handler) (url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	host := fmt.Sprintf("worker-%d.test", len(c.hosts)+1)
	c.hosts[host] = h
	return "http://" + host + "/doorbells"
}

func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	h := c.handler(r.URL.Host)
	if h == nil {
		return nil, fmt.Errorf("no host %s", r.URL.Host)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (c *calls) handler(host string) http.Handler {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts[host]
}
