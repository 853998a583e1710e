package natsbus_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startServer starts a real server on a free port of this machine, or on the port
// that is given.
func startServer(t testing.TB, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { stopServer(s) })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	return s
}

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}
