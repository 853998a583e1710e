package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
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

// What makes work rings for it.
func TestRun_Bus(t *testing.T) {
	s := natsServer(t)
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bells, err := conn.SubscribeSync("leasestream.*.step.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"start", writePipeline(t), "--name", "r"},
		{"run", writePipeline(t)},
		{"each", "--bus", s.ClientURL(), "--", "true"},
	} {
		environment := map[string]string{"LEASESTREAM_BUS": s.ClientURL(), "LEASESTREAM_STORE": "sqlite:" + t.TempDir() + "/s.db"}
		code, _, stderr := runEnvironment(t, environment, args...)
		if code != 0 {
			t.Fatalf("%q = %d, %s, want 0", args, code, stderr)
		}
		bell, err := bells.NextMsg(20 * time.Second)
		if err != nil || !strings.Contains(string(bell.Data), `"event":"00"`) {
			t.Errorf("%q rang %v, %v, want a doorbell for the first event", args, bell, err)
		}
		for { // those for what the run did further
			if _, err := bells.NextMsg(50 * time.Millisecond); err != nil {
				break
			}
		}
	}
}

// A bus that is not there is an error for those who work, and nothing to those
// who look.
func TestRun_BusMissing(t *testing.T) {
	environment := map[string]string{"LEASESTREAM_BUS": "nats://me:c2VjcmV0c2VjcmV0@127.0.0.1:1", "LEASESTREAM_STORE": "sqlite:" + t.TempDir() + "/s.db"}
	code, _, stderr := runEnvironment(t, environment, "run", writePipeline(t))
	if code != 1 || !strings.Contains(stderr, "connect to NATS at 127.0.0.1:1") || strings.Contains(stderr, "c2VjcmV0") {
		t.Errorf("run = %d, %s, want 1 and where the bus was looked for", code, stderr)
	}
	if code, _, stderr := runEnvironment(t, environment, "ls"); code != 1 || !strings.Contains(stderr, "ContainerNotFound") {
		t.Errorf("ls = %d, %s, want that nothing was created", code, stderr)
	}
	if code, _, stderr := runEnvironment(t, environment, "blob", "put", "b"); code != 0 {
		t.Errorf("blob put = %d, %s, want 0", code, stderr)
	}
	if code, _, stderr := runEnvironment(t, environment, "ls"); code != 0 {
		t.Errorf("ls = %d, %s, want 0", code, stderr)
	}
}
