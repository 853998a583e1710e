package storetest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Proxy is a TCP relay in front of an HTTP service whose connections break when
// its hook says so. It passes on the bytes as they come, and understands no more
// than where a request and an answer end. With it a client meets what its own HTTP
// stack makes of a broken connection, which [Transport] leaves out.
type Proxy struct {
	journey
	listener net.Listener
	service  string
	delay    time.Duration
	running  sync.WaitGroup // the accepting goroutine and one for each connection

	mu     sync.Mutex // guards the fields below
	open   map[net.Conn]struct{}
	closed bool
}

// NewProxy listens on a port of this machine and relays to the service at an
// address, host:port. Late requests arrive after the delay. A nil hook makes a
// mere counter. Close ends it.
func NewProxy(service string, delay time.Duration, hook HTTPHook) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		journey: journey{hook: hook}, listener: listener, service: service, delay: delay,
		open: map[net.Conn]struct{}{},
	}
	p.running.Go(p.accept) // until the listener is closed
	return p, nil
}

// Addr is the address that the proxy listens on, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close breaks all connections and waits until they are gone. Requests that are
// late still arrive.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close() // once more, if it is closed already
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.relay(client) }) // until one side ends
	}
}

// relay serves one connection of a client by one of the service.
func (p *Proxy) relay(client net.Conn) {
	defer client.Close()
	if !p.keep(client) {
		return
	}
	defer p.forget(client)
	service, err := net.Dial("tcp", p.service)
	if err != nil {
		return
	}
	defer service.Close()
	from, to := newWire(client), newWire(service)
	for p.exchange(from, to) == nil {
	}
}

// keep notes an open connection; false if the proxy is closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// errBroken ends a connection on purpose.
var errBroken = errors.New("connection broken by a mishap")

// exchange relays one request and its answer. The connection ends with an error.
func (p *Proxy) exchange(client, service *wire) error {
	request, r, err := client.request()
	if err != nil {
		return err
	}
	m := p.begin(r)
	switch m {
	case Reset:
		return client.reset()
	case Busy:
		return client.send([]byte(busy))
	case Late:
		time.Sleep(p.delay)
	}
	if err := service.send(request); err != nil {
		return err
	}
	answer, err := service.answer(r)
	if err != nil {
		return err
	}
	return client.receive(answer, m)
}

// receive gives the client its answer, or what is left of it.
func (w *wire) receive(answer []byte, m Mishap) error {
	switch m {
	case Unavailable:
		return w.send([]byte(unavailable))
	case NoAnswer:
		return w.reset()
	case CutAnswer:
		return errors.Join(w.send(answer[:len(answer)/2]), errBroken)
	case Stall:
		_, err := w.bytes.Peek(1) // which the client does not send before it is answered
		return errors.Join(err, errBroken)
	}
	return w.send(answer)
}

// wire is one end of a connection. It keeps the bytes that it reads, to be passed
// on unchanged.
type wire struct {
	conn  net.Conn
	bytes *bufio.Reader // of conn, onto the tape
	tape  *bytes.Buffer
}

func newWire(c net.Conn) *wire {
	tape := &bytes.Buffer{}
	return &wire{conn: c, bytes: bufio.NewReader(io.TeeReader(c, tape)), tape: tape}
}

func (w *wire) send(text []byte) error {
	_, err := w.conn.Write(text)
	return err
}

// reset closes the connection so that the other side sees it as reset.
func (w *wire) reset() error {
	if c, ok := w.conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0) // or else it is closed in order, which is as good
	}
	return errors.Join(w.conn.Close(), errBroken)
}

// request reads one request and returns it as it came.
func (w *wire) request() ([]byte, *http.Request, error) {
	r, err := http.ReadRequest(w.bytes)
	if err != nil {
		return nil, nil, err
	}
	text, err := w.rest(r.Body)
	return text, r, err
}

// answer reads the answer to a request, with the interim ones before it.
func (w *wire) answer(r *http.Request) ([]byte, error) {
	for {
		answer, err := http.ReadResponse(w.bytes, r)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode >= http.StatusOK {
			return w.rest(answer.Body)
		}
	}
}

// rest reads to the end of a body and returns all that was read since the last
// time. One side does not speak before the other one has finished, so nothing of
// what comes next is among it.
func (w *wire) rest(body io.ReadCloser) ([]byte, error) {
	_, err := io.Copy(io.Discard, body)
	text := bytes.Clone(w.tape.Bytes())
	w.tape.Reset()
	return text, errors.Join(err, body.Close())
}
