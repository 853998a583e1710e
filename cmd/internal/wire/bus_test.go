package wire_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/processor/bus"
)

func natsServer(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	return s
}

// Workers of a store hear each other whatever their credentials and however they
// write its URL; those of other stores hear nothing.
func TestOpenBus(t *testing.T) {
	s := natsServer(t)
	dir := t.TempDir()
	if err := os.Symlink(dir, dir+"-link"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir + "-link") })
	t.Chdir(dir)
	for _, test := range []struct {
		name, rings, listens string
		want                 bool
	}{
		{"container", "https://a.blob.core.windows.net/c-1?sig=1", "https://A.blob.core.windows.net/c-1/?sig=2", true},
		{"other container", "https://a.blob.core.windows.net/c-2", "https://a.blob.core.windows.net/c-1", false},
		{"other account", "https://b.blob.core.windows.net/c-1", "https://a.blob.core.windows.net/c-1", false},
		{"file", "sqlite:s.db", "sqlite:" + filepath.Join(dir, "s.db"), true},
		{"file behind a link", "sqlite:s.db", "sqlite:" + filepath.Join(dir+"-link", "s.db"), true},
		{"other file", "sqlite:t.db", "sqlite:s.db", false},
		{"memory", "mem:", "mem:", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := hears(t, s.ClientURL(), test.rings, test.listens, test.want); got != test.want {
				t.Errorf("workers of %s heard those of %s: %t, want %t", test.listens, test.rings, got, test.want)
			}
		})
	}
}

// hears tells whether a worker of one store hears a doorbell of one of another. If
// it should, it is given time: the two have connections of their own.
func hears(t *testing.T, busURL, rings, listens string, want bool) bool {
	t.Helper()
	ringer, listener := openBus(t, busURL, rings), openBus(t, busURL, listens)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	heard := make(chan string, 8)
	ended := make(chan error)
	go func() { // ended below
		ended <- listener.Listen(ctx, []string{"S"}, func(b bus.Doorbell) { heard <- b.Stream })
	}()
	defer func() { <-ended }()
	defer stop()
	// Doorbells of the test before may still be on their way.
	theirs, ours := "theirs of "+t.Name(), "ours of "+t.Name()
	// The listener rings itself until it hears, so that it is known to listen; a
	// doorbell that came before is heard before.
	self := time.NewTicker(10 * time.Millisecond)
	defer self.Stop()
	foreign := false
	patience := time.After(time.Minute)
	for selfHeard := 0; selfHeard < 2 || want && !foreign; {
		select {
		case <-self.C:
			if err := ringer.Ring(ctx, bus.Doorbell{Stream: theirs, Step: "S"}); err != nil {
				t.Fatal(err)
			}
			if err := listener.Ring(ctx, bus.Doorbell{Stream: ours, Step: "S"}); err != nil {
				t.Fatal(err)
			}
		case stream := <-heard:
			if stream == ours {
				selfHeard++
			}
			foreign = foreign || stream == theirs
		case <-patience:
			return foreign
		}
	}
	return foreign
}

func openBus(t *testing.T, busURL, storeURL string) bus.Bus {
	t.Helper()
	b, err := wire.OpenBus(busURL, &wire.BusOptions{Store: storeURL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestOpenBus_None(t *testing.T) {
	if b, err := wire.OpenBus("none", nil); b != nil || err != nil {
		t.Errorf("OpenBus(none) = %v, %v, want none", b, err)
	}
}

func TestOpenBus_Wrong(t *testing.T) {
	const secret = "c2VjcmV0"
	for _, test := range []struct{ url, want string }{
		{"", "want none, nats://HOST:PORT or http://HOST"},
		{"nats://", "want none, nats://HOST:PORT or http://HOST"},
		{"carrier:" + secret, "want none, nats://HOST:PORT or http://HOST"},
		{"http://", "http[s]://HOST[:PORT][/PATH]"},
		{"http://:8080", "http[s]://HOST[:PORT][/PATH]"},
		{"http://me:" + secret + "@127.0.0.1", "without user, query and fragment"},
		{"http://127.0.0.1/?code=" + secret, "without user, query and fragment"},
		{"http://%zz" + secret, "http[s]://HOST[:PORT][/PATH]"},
		{"https://workers.example.com/ring", "--bus-listen"},
		{"http://127.0.0.1:99999", "take doorbells"},
		{"nats://me:" + secret + "@127.0.0.1:1", "127.0.0.1:1"},
		{"nats://" + secret + "@127.0.0.1:1", "127.0.0.1:1"},
		{"nats://me:" + secret + "@", "nats://[USER:PASSWORD@]HOST[:PORT]"},
	} {
		_, err := wire.OpenBus(test.url, &wire.BusOptions{Token: token})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("OpenBus(%q) = %v, want an error with %q and no secret", test.url, err, test.want)
		}
	}
}
