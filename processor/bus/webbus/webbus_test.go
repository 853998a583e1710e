package webbus_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

func TestBus_InProcess(t *testing.T) {
	bustest.Run(t, bustest.Harness{
		Open: func(t testing.TB) func() bus.Bus {
			n := inProcess()
			return func() bus.Bus { return n.join(t) }
		},
		FakeTime: true,
	})
}

func TestBus_OverSockets(t *testing.T) {
	for name, o := range map[string]webbus.Options{
		"defaults":      {},
		"other options": {Parallel: 1, Source: "urn:worker:1", Quiet: time.Hour, Own: func(string) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			bustest.Run(t, bustest.Harness{
				Open: func(t testing.TB) func() bus.Bus {
					n := overSockets(t)
					n.o = o
					n.o.Timeout = time.Minute // this is no test of speed
					return func() bus.Bus { return n.join(t) }
				},
			})
		})
	}
}

func TestNew_RefusesTokens(t *testing.T) {
	for _, bad := range []string{"", " ", "two words", "line\n", "nul\x00", "čeština", "tab\t"} {
		b, err := webbus.New(bad, nil)
		if err == nil {
			b.Close()
			t.Errorf("New(%q) = nil, want an error", bad)
			continue
		}
		if bad != "" && bad != " " && strings.Contains(err.Error(), bad) {
			t.Errorf("New(%q) = %v, which tells the token", bad, err)
		}
	}
}

// newBus makes a bus, to be closed with the test.
func newBus(t testing.TB, o *webbus.Options) *webbus.Bus {
	t.Helper()
	b, err := webbus.New(token, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// ear collects what a bus hears. It belongs in a bubble, where synctest.Wait
// tells that it listens and has heard all there is.
type ear struct {
	mu    sync.Mutex // guards the field below
	heard []bus.Doorbell
}

func listen(t *testing.T, b *webbus.Bus, steps ...string) *ear {
	t.Helper()
	e := new(ear)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Listen(ctx, steps, e.hear) }() // ends with ctx
	t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
	return e
}

func (e *ear) hear(bell bus.Doorbell) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, bell)
}

// take returns what was heard since the last take.
func (e *ear) take() []bus.Doorbell {
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := e.heard
	e.heard = nil
	return heard
}
