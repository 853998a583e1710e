package wire

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor/bus/webbus"
)

// IsWebBus reports whether a bus URL is one of HTTP, which needs a token.
func IsWebBus(busURL string) bool {
	scheme, _, ok := strings.Cut(busURL, "://")
	return ok && (scheme == "http" || scheme == "https")
}

func parseWebBus(busURL string) (*url.URL, error) {
	u, err := url.Parse(busURL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the URL of a bus over HTTP is http[s]://HOST[:PORT][/PATH], without user, query and fragment")
	}
	return u, nil
}

// openWebBus makes a bus over HTTP and, unless it is mute, listens for it.
func openWebBus(busURL string, o *BusOptions) (*Bus, error) {
	u, err := parseWebBus(busURL)
	if err != nil {
		return nil, err
	}
	b, err := webbus.New(o.Token, &webbus.Options{Peers: o.Peers, Own: o.Own})
	if err != nil {
		return nil, err
	}
	if o.Mute {
		return &Bus{Bus: b}, nil
	}
	l, err := listen(u, o.Listen)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &Bus{Bus: serve(b, l), URL: u.String()}, nil
}

// listen opens the listener, and puts the port into the URL where that has to
// name the one that was free.
func listen(u *url.URL, address string) (net.Listener, error) {
	switch {
	case address != "":
	case u.Scheme == "https":
		return nil, errors.New("nothing here takes https: give the address at which to listen for what ends TLS before this process (--bus-listen)")
	default:
		address = net.JoinHostPort(u.Hostname(), port(u))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("take doorbells: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok && port(u) == "0" && address == net.JoinHostPort(u.Hostname(), "0") {
		u.Host = net.JoinHostPort(u.Hostname(), fmt.Sprint(at.Port))
	}
	return l, nil
}

func port(u *url.URL) string {
	if u.Port() == "" {
		return "0"
	}
	return u.Port()
}

// webServer is a bus with the server that takes its doorbells.
type webServer struct {
	*webbus.Bus
	server *http.Server
	done   sync.WaitGroup
}

func serve(b *webbus.Bus, l net.Listener) *webServer {
	s := &webServer{Bus: b, server: &http.Server{
		Handler:           b,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // what strangers send is none of our errors
	}}
	s.done.Go(func() { // until Close
		// It ends by Close; before that it has nothing to say but what Accept says.
		_ = s.server.Serve(l)
	})
	return s
}

// Close ends the server and the bus.
func (s *webServer) Close() error {
	err := s.server.Close()
	s.done.Wait()
	return errors.Join(err, s.Bus.Close())
}
