package pipeline

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A wide split must not open a connection for each of its branches.
func TestTransport_BoundsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		transport := newTransport()
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			opened.Add(1)
			deaf, _ := net.Pipe()
			return deaf, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var requests sync.WaitGroup
		for range 3 * maxConnections {
			requests.Go(func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.com/", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if res, err := transport.RoundTrip(r); err == nil {
					res.Body.Close()
					t.Error("a server that is deaf has answered")
				}
			})
		}
		synctest.Wait()
		if n := opened.Load(); n != maxConnections {
			t.Errorf("%d requests at a time open %d connections, want %d", 3*maxConnections, n, maxConnections)
		}
		cancel()
		requests.Wait()
		synctest.Wait() // for the connections that nobody waits for any more
		transport.CloseIdleConnections()
	})
}
