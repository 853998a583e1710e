package wire_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/processor/bus"
)

const token = "a-token-of-the-test"

// openWeb opens a bus over HTTP whose doorbells all go to the URLs of peers.
func openWeb(t *testing.T, url string, o wire.BusOptions, peers ...string) *wire.Bus {
	t.Helper()
	o.Token = token
	o.Peers = func(context.Context, bus.Doorbell) ([]string, error) { return peers, nil }
	b, err := wire.OpenBus(url, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return b
}

// The URL to publish is the one given, with the port that was free, or as it is
// where the address to listen at is another.
func TestOpenBus_Web(t *testing.T) {
	for _, test := range []struct {
		url    string
		listen string
		prefix string // of the URL to publish
		suffix string
	}{
		{"http://127.0.0.1", "", "http://127.0.0.1:", ""},
		{"http://127.0.0.1:0/ring", "", "http://127.0.0.1:", "/ring"},
		{"http://localhost/", "", "http://localhost:", "/"},
		{"https://workers.example.com/ring", "127.0.0.1:0", "https://workers.example.com/ring", ""},
		{"http://workers.example.com", "127.0.0.1:0", "http://workers.example.com", ""},
	} {
		b := openWeb(t, test.url, wire.BusOptions{Listen: test.listen})
		if !strings.HasPrefix(b.URL, test.prefix) || !strings.HasSuffix(b.URL, test.suffix) || strings.Contains(b.URL, ":0") {
			t.Errorf("OpenBus(%q) publishes %q, want %q … %q with a port", test.url, b.URL, test.prefix, test.suffix)
		}
	}
}

func TestOpenBus_WebIsHeard(t *testing.T) {
	listener := openWeb(t, "http://127.0.0.1/ring", wire.BusOptions{})
	ringer := openWeb(t, "http://127.0.0.1", wire.BusOptions{Mute: true}, listener.URL)
	if ringer.URL != "" {
		t.Errorf("a bus that is mute publishes %q", ringer.URL)
	}
	ctx, stop := context.WithCancel(t.Context())
	heard, ended := make(chan bus.Doorbell, 100), make(chan error)
	go func() { // ended below
		ended <- listener.Listen(ctx, []string{"S"}, func(b bus.Doorbell) { heard <- b })
	}()
	defer func() { <-ended }()
	defer stop()
	want := bus.Doorbell{Stream: "r", Event: "00", Step: "S"}
	again := time.NewTicker(10 * time.Millisecond) // until it listens
	defer again.Stop()
	for {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard %+v, want %+v", got, want)
			}
			return
		case <-again.C:
			if err := ringer.Ring(t.Context(), want); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A closed bus has given its address back.
func TestOpenBus_WebClose(t *testing.T) {
	b := openWeb(t, "http://127.0.0.1", wire.BusOptions{})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if res, err := http.Post(b.URL, "application/json", strings.NewReader("{}")); err == nil {
		res.Body.Close()
		t.Errorf("a closed bus answers %s", res.Status)
	}
}

func TestRedactBus(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"none", "none"},
		{"nats://127.0.0.1:4222", "nats://127.0.0.1:4222"},
		{"nats://me:secret@a:1,tls://token@b:2", "nats://…@a:1,tls://…@b:2"},
		{"http://127.0.0.1:8080/ring", "http://127.0.0.1:8080/ring"},
		{"http://me:secret@127.0.0.1", "…"},
		{"amqp://secret@host", "…"},
		{"nats://me:sec%ret@host", "…"},
	} {
		if got := wire.RedactBus(test.url); got != test.want {
			t.Errorf("RedactBus(%q) = %q, want %q", test.url, got, test.want)
		}
	}
}
