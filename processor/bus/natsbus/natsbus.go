// Package natsbus carries doorbells over NATS: core subjects and queue groups, so
// any server does, and nothing is stored.
//
// Each step has a subject, PREFIX.step.STEP, and its listeners are one queue
// group, in which the server chooses who hears a doorbell. Doorbells without a
// step go to PREFIX.look, to all. A container needs a prefix of its own if
// several share a server.
//
// A connection that is lost is made again for as long as it takes; meanwhile
// doorbells wait in a buffer of 8 MiB.
package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/leasestream/leasestream/processor/bus"
)

// Options of a bus; nil means the defaults.
type Options struct {
	// Prefix of all subjects, of one or more tokens; "" means "leasestream". The
	// same on all workers of a container.
	Prefix string
	// Timeout of the first connection to each server; 0 means 5 s.
	Timeout time.Duration
	// Connection has more options of the connection, such as
	// nats.UserCredentials.
	Connection []nats.Option
}

func (o *Options) orDefaults() Options {
	var all Options
	if o != nil {
		all = *o
	}
	if all.Prefix == "" {
		all.Prefix = "leasestream"
	}
	if all.Timeout <= 0 {
		all.Timeout = 5 * time.Second
	}
	return all
}

// stall is how long a server may not take what is written to it before the
// connection counts as lost.
const stall = 5 * time.Second

// Bus is a bus over one connection.
type Bus struct {
	conn   *nats.Conn
	prefix string
	closed chan struct{} // closed with the connection, for good

	mu        sync.Mutex // guards the fields below
	listeners map[*listener]struct{}
	refused   error // why the server did not take an earlier doorbell
}

var _ bus.Bus = (*Bus)(nil)

// Connect connects to a server, such as nats://USER:PASSWORD@HOST:4222, or to one
// of a list of servers, with commas between them. Errors do not repeat what the
// address has besides hosts.
func Connect(address string, o *Options) (*Bus, error) {
	all := o.orDefaults()
	if err := checkPrefix(all.Prefix); err != nil {
		return nil, err
	}
	hosts, err := hostsOf(address)
	if err != nil {
		return nil, err
	}
	b := &Bus{prefix: all.Prefix, closed: make(chan struct{}), listeners: map[*listener]struct{}{}}
	b.conn, err = nats.Connect(address, slices.Concat(all.Connection, []nats.Option{
		nats.Name("leasestream"),
		nats.Timeout(all.Timeout),
		nats.FlusherTimeout(stall),
		nats.MaxReconnects(-1),
		nats.ErrorHandler(b.onError),
		nats.ClosedHandler(func(*nats.Conn) { close(b.closed) }),
	})...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", hosts, err)
	}
	return b, nil
}

// hostsOf returns the hosts in an address, which may hold passwords.
func hostsOf(address string) (string, error) {
	var hosts []string
	for server := range strings.SplitSeq(address, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.Host == "" {
			return "", errors.New("the address of a NATS server is not of the form nats://[USER:PASSWORD@]HOST[:PORT]")
		}
		hosts = append(hosts, u.Host)
	}
	return strings.Join(hosts, ","), nil
}

// Ring hands the doorbells to the connection. While that is down, it buffers
// them. That the server refuses a doorbell becomes known later, and is then the
// error of a later Ring.
func (b *Bus) Ring(_ context.Context, bells ...bus.Doorbell) error {
	for _, bell := range bells {
		data, err := json.Marshal(bell)
		if err != nil {
			return fmt.Errorf("ring: %w", err)
		}
		if err := b.conn.Publish(subject(b.prefix, bell.Step), data); err != nil {
			return fmt.Errorf("ring: %w", err)
		}
	}
	return b.takeRefusal()
}

func (b *Bus) takeRefusal() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refused
	b.refused = nil
	return err
}

// Close writes out what was rung and ends the connection.
func (b *Bus) Close() error {
	b.conn.Close()
	return nil
}

// onError is called by the connection, one call at a time.
func (b *Bus) onError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if strings.Contains(err.Error(), "for Publish to") {
		b.refused = fmt.Errorf("ring: %w", err)
		return
	}
	for l := range b.listeners {
		l.refuse(err)
	}
}
