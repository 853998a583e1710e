package main

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// leakyNATS starts a NATS server behind a proxy that cuts each connection after a
// random time: what was on its way is lost. It returns the URL of the proxy.
func leakyNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not get ready")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var sides sync.WaitGroup
	t.Cleanup(sides.Wait)
	t.Cleanup(func() { l.Close() })
	sides.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			sides.Go(func() { leak(c, strings.TrimPrefix(s.ClientURL(), "nats://")) })
		}
	})
	return "nats://" + l.Addr().String()
}

// leak hands on what comes over a connection, in both directions, for a while.
func leak(client net.Conn, address string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer upstream.Close()
	end := time.Now().Add(100*time.Millisecond + rand.N(time.Second))
	_, _ = client.SetDeadline(end), upstream.SetDeadline(end)
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(client, upstream) })
	_, _ = io.Copy(upstream, client)
	upstream.Close()
	back.Wait()
}
