package natsbus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/natsbus"
)

func TestBus(t *testing.T) {
	for name, o := range map[string]*natsbus.Options{
		"defaults": nil,
		"prefix":   {Prefix: "orders.eu-1", Timeout: time.Second, Connection: []nats.Option{nats.ReconnectWait(time.Millisecond)}},
	} {
		t.Run(name, func(t *testing.T) {
			bustest.Run(t, bustest.Harness{Open: func(t testing.TB) func() bus.Bus {
				s := startServer(t, server.Options{})
				return func() bus.Bus { return connect(t, s.ClientURL(), o) }
			}})
		})
	}
}

func connect(t testing.TB, address string, o *natsbus.Options) *natsbus.Bus {
	t.Helper()
	b, err := natsbus.Connect(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// listener listens in the background.
type listener struct {
	heard chan bus.Doorbell
	done  chan error
}

func listen(t *testing.T, b *natsbus.Bus, steps ...string) *listener {
	t.Helper()
	l := &listener{heard: make(chan bus.Doorbell, 1000), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		l.done <- b.Listen(ctx, steps, func(bell bus.Doorbell) {
			select {
			case l.heard <- bell:
			default:
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return l
}

// ringUntil rings until f says that it is enough.
func ringUntil(t *testing.T, b *natsbus.Bus, bell bus.Doorbell, f func(ringErr error) bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); time.Since(start) < 20*time.Second; <-tick.C {
		if f(b.Ring(t.Context(), bell)) {
			return
		}
	}
	t.Fatalf("nothing came of ringing %+v", bell)
}

// wantHeard rings from b until the listener hears it.
func (l *listener) wantHeard(t *testing.T, b *natsbus.Bus, bell bus.Doorbell) {
	t.Helper()
	ringUntil(t, b, bell, func(error) bool {
		select {
		case got := <-l.heard:
			return got == bell
		case err := <-l.done:
			t.Fatalf("Listen() = %v before its context ended", err)
		default:
		}
		return false
	})
}

var search = bus.Doorbell{Stream: "order-42", Event: "01.00", Step: "Search"}

func TestPrefix_KeepsContainersApart(t *testing.T) {
	s := startServer(t, server.Options{})
	a := connect(t, s.ClientURL(), &natsbus.Options{Prefix: "a"})
	b := connect(t, s.ClientURL(), &natsbus.Options{Prefix: "b"})
	la, lb := listen(t, a, "Search"), listen(t, b, "Search")
	other := bus.Doorbell{Stream: "order-43", Event: "02.00", Step: "Search"}
	la.wantHeard(t, a, search)
	lb.wantHeard(t, b, other)
	la.wantHeard(t, a, search)
	for len(lb.heard) > 0 {
		if got := <-lb.heard; got != other {
			t.Errorf("prefix b heard %+v of prefix a", got)
		}
	}
}

// The server is away for a while, and comes back at the same address.
func TestReconnect(t *testing.T) {
	s := startServer(t, server.Options{})
	o := &natsbus.Options{Connection: []nats.Option{nats.ReconnectWait(5 * time.Millisecond), nats.ReconnectJitter(0, 0)}}
	a, b := connect(t, s.ClientURL(), o), connect(t, s.ClientURL(), o)
	l := listen(t, a, "Search")
	l.wantHeard(t, b, search)
	port := s.Addr().(*net.TCPAddr).Port
	stopServer(s)
	if err := b.Ring(t.Context(), search); err != nil {
		t.Errorf("Ring() = %v with the server away, want nil", err)
	}
	startServer(t, server.Options{Port: port})
	l.wantHeard(t, b, bus.Doorbell{Stream: "order-42", Event: "02.00", Step: "Search"})
}

// A process may ring and end at once.
func TestClose_WritesOutWhatWasRung(t *testing.T) {
	s := startServer(t, server.Options{})
	l := listen(t, connect(t, s.ClientURL(), nil), "Search", "Last")
	l.wantHeard(t, connect(t, s.ClientURL(), nil), search)
	for n := range 20 {
		b := connect(t, s.ClientURL(), nil)
		last := bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(n), Step: "Last"}
		if err := b.Ring(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for got := (bus.Doorbell{}); got != last; {
			select {
			case got = <-l.heard:
			case <-time.After(20 * time.Second):
				t.Fatalf("%+v was not heard", last)
			}
		}
	}
}

// A listener that is stuck loses doorbells, and hears again when it is not.
func TestListen_FarBehind(t *testing.T) {
	s := startServer(t, server.Options{})
	b := connect(t, s.ClientURL(), nil)
	free := make(chan struct{})
	heard := make(chan bus.Doorbell, 100_000)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { // ends with ctx
		done <- b.Listen(ctx, []string{"Search"}, func(bell bus.Doorbell) {
			heard <- bell
			<-free
		})
	}()
	ringUntil(t, b, search, func(error) bool { return len(heard) > 0 })
	bells := make([]bus.Doorbell, 1000)
	for range 20 {
		for i := range bells {
			bells[i] = bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(i), Step: "Search"}
		}
		if err := b.Ring(t.Context(), bells...); err != nil {
			t.Fatal(err)
		}
	}
	close(free)
	last := bus.Doorbell{Stream: "order-42", Event: "last", Step: "Search"}
	ringUntil(t, b, last, func(error) bool {
		for len(heard) > 0 {
			if <-heard == last {
				return true
			}
		}
		return false
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Listen() = %v, want nil", err)
	}
}

// Anybody who may publish may send anything.
func TestListen_DropsWhatIsNoDoorbell(t *testing.T) {
	s := startServer(t, server.Options{})
	b := connect(t, s.ClientURL(), nil)
	l := listen(t, b, "Search")
	l.wantHeard(t, b, search)
	raw, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, data := range []string{"", "null", "[]", "{", "\xff", `{"stream":1}`, `{"stream":"x","step":"Other"}`, strings.Repeat("[", 100_000)} {
		for _, subject := range []string{"leasestream.step.Search", "leasestream.look"} {
			if err := raw.Publish(subject, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := raw.Flush(); err != nil {
		t.Fatal(err)
	}
	last := bus.Doorbell{Stream: "order-42", Event: "02.00", Step: "Search"}
	ringUntil(t, b, last, func(error) bool {
		for len(l.heard) > 0 {
			got := <-l.heard
			if got == last {
				return true
			}
			if got != search {
				t.Errorf("heard %+v", got)
			}
		}
		return false
	})
}

// The server chooses one listener for each doorbell, also among those of one
// connection.
func TestListen_QueueGroup(t *testing.T) {
	s := startServer(t, server.Options{})
	a, b := connect(t, s.ClientURL(), nil), connect(t, s.ClientURL(), nil)
	ears := []*listener{listen(t, a, "Search", "one"), listen(t, a, "Search", "two"), listen(t, b, "Search", "three")}
	own := []bus.Doorbell{{Stream: "order-42", Step: "one"}, {Stream: "order-42", Step: "two"}, {Stream: "order-42", Step: "three"}}
	for i, l := range ears {
		l.wantHeard(t, a, own[i])
	}
	const n = 100
	for i := range n {
		if err := a.Ring(t.Context(), bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(i), Step: "Search"}); err != nil {
			t.Fatal(err)
		}
	}
	// What comes after has come after all of those.
	heard := map[bus.Doorbell]int{}
	for i, l := range ears {
		after := own[i]
		after.Event = "after"
		ringUntil(t, a, after, func(error) bool {
			for len(l.heard) > 0 {
				got := <-l.heard
				if got.Step == "Search" {
					heard[got]++
				}
				if got == after {
					return true
				}
			}
			return false
		})
	}
	if len(heard) != n {
		t.Errorf("%d of %d doorbells were heard", len(heard), n)
	}
	for bell, times := range heard {
		if times != 1 {
			t.Errorf("%+v was heard %d times, want once", bell, times)
		}
	}
}

func TestPermissions(t *testing.T) {
	user := func(name, publish string, subscribe ...string) *server.User {
		return &server.User{Username: name, Password: "secret", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{publish}},
			Subscribe: &server.SubjectPermission{Allow: subscribe},
		}}
	}
	s := startServer(t, server.Options{Users: []*server.User{
		user("ringer", "leasestream.>", "none"),
		user("listener", "none", "leasestream.look", "leasestream.step.Search"),
	}})
	as := func(name string) *natsbus.Bus {
		return connect(t, strings.Replace(s.ClientURL(), "//", "//"+name+":secret@", 1), nil)
	}
	ringer, hearer := as("ringer"), as("listener")
	l := listen(t, hearer, "Search")
	l.wantHeard(t, ringer, search)
	for name, refused := range map[string]*listener{
		"to listen for anything": listen(t, ringer, "Search"),
		"to listen for one step": listen(t, hearer, "Search", "Done"),
	} {
		select {
		case err := <-refused.done:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("Listen() = %v without the right %s, want a permission violation", err, name)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("Listen did not return, without the right %s", name)
		}
	}
	l.wantHeard(t, ringer, search) // it has all it needs

	ringUntil(t, hearer, search, func(err error) bool { return errors.Is(err, nats.ErrPermissionViolation) })
}

func TestConnect_Errors(t *testing.T) {
	s := startServer(t, server.Options{Username: "me", Password: "pa55word"})
	host := s.Addr().String()
	stopped := startServer(t, server.Options{})
	away := stopped.Addr().String()
	stopServer(stopped)
	for _, c := range []struct {
		name, address, want string
		o                   *natsbus.Options
	}{
		{name: "nobody there", address: "nats://" + away, want: away},
		{name: "no user", address: s.ClientURL(), want: host},
		{name: "wrong password", address: "nats://me:wr0ng@" + host, want: host},
		{name: "token", address: "nats://t0ken@" + host, want: host},
		{name: "two servers", address: "nats://me:wr0ng@" + host + ", " + away, want: host + "," + away},
		{name: "no URL", address: "nats://me:wr0ng@host:port", want: "nats://[USER:PASSWORD@]HOST"},
		{name: "no scheme", address: "me:wr0ng", want: "nats://[USER:PASSWORD@]HOST"},
		{name: "empty", address: "", want: "nats://[USER:PASSWORD@]HOST"},
		{name: "empty in a list", address: "nats://a,,nats://b", want: "nats://[USER:PASSWORD@]HOST"},
		{name: "prefix with a wildcard", address: s.ClientURL(), o: &natsbus.Options{Prefix: "a.*"}, want: `"a.*"`},
		{name: "prefix with an empty token", address: s.ClientURL(), o: &natsbus.Options{Prefix: "a..b"}, want: `"a..b"`},
		{name: "prefix with a space", address: s.ClientURL(), o: &natsbus.Options{Prefix: "a b"}, want: `"a b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := natsbus.Connect(c.address, c.o)
			if err == nil {
				b.Close()
				t.Fatal("Connect() = nil, want an error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("Connect() = %v, want one that names %s", err, c.want)
			}
			for _, secret := range []string{"wr0ng", "t0ken", "pa55word"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("Connect() = %v, which tells a secret", err)
				}
			}
		})
	}
}
