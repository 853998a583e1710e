package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/propagation"
)

// EventType is the type of the CloudEvent that an http step posts.
const EventType = "com.github.leasestream.step"

const (
	// answerTime is how long a server has to answer unless the file says otherwise.
	answerTime = 30 * time.Second
	// maxConnections is how many connections a pipeline has to one host.
	maxConnections = 64
)

// request is what a file says about the request of a step.
type request struct {
	url       *address
	headers   []*header
	timeout   time.Duration // 0: not said
	timeoutAt place
}

// check reports headers from the environment in a request that a message may send
// anywhere.
func (q *request) check(r *reader) {
	if q.url == nil || q.url.fixed {
		return
	}
	for _, h := range q.headers {
		if h.variable != "" {
			r.add(h.at, "header %s is from the environment: the url has to begin with scheme, host and / written out, so that no message decides who gets it", h.name)
		}
	}
}

// call does the work of a step by a request.
type call struct {
	url      *address
	headers  []*header
	timeout  time.Duration // for the request and its whole answer
	pipeline string
	read     func(body []byte) (json.RawMessage, error)
	settings *Options
}

// run posts the message and reads the answer.
func (c *call) run(ctx context.Context, m *message) (json.RawMessage, error) {
	r, hidden, err := c.prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	output, err := c.post(r, hidden)
	if err != nil {
		return nil, fmt.Errorf("POST %s: %w", shown(r.URL), err)
	}
	return output, nil
}

func (c *call) post(r *http.Request, hidden secrets) (json.RawMessage, error) {
	a, err := c.exchange(r)
	if err != nil {
		return nil, err
	}
	return a.output(c.read, hidden)
}

func (c *call) prepare(ctx context.Context, m *message) (*http.Request, secrets, error) {
	data := newArgumentData(m)
	u, err := c.url.of(data)
	if err != nil {
		return nil, nil, err
	}
	body, err := c.event(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	// Made without the whole URL, which an error would tell.
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.Scheme+"://"+u.Host, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.URL = u
	r.Header.Set("User-Agent", "leasestream")
	r.Header.Set("Content-Type", event.ApplicationCloudEventsJSON)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	if u.User != nil {
		password, _ := u.User.Password()
		r.SetBasicAuth(u.User.Username(), password)
	}
	hidden, err := c.setHeaders(r, data)
	return r, hidden, err
}

func (c *call) setHeaders(r *http.Request, data *argumentData) (secrets, error) {
	var hidden secrets
	for _, h := range c.headers {
		value, secret, err := h.of(data)
		if err != nil {
			return nil, err
		}
		r.Header.Set(h.name, value)
		hidden = append(hidden, secret...)
	}
	return hidden, nil
}

// event is the CloudEvent that carries the message. It has no time: the worker's
// clock may be wrong, and that of the stream is the store's.
func (c *call) event(ctx context.Context, m *message) ([]byte, error) {
	var data bytes.Buffer
	if err := m.send(&data); err != nil {
		return nil, err
	}
	e := event.New()
	e.SetID(m.task.Key())
	e.SetType(EventType)
	e.SetSource("leasestream/" + c.pipeline)
	e.SetSubject(m.task.Step)
	e.SetExtension("stream", m.task.Stream)
	e.SetExtension("run", m.task.Run)
	e.SetExtension("event", m.task.Event)
	e.SetExtension("attempt", m.task.Attempt)
	for name, value := range traceOf(ctx) {
		e.SetExtension(name, value)
	}
	// SetData would encode once more what is JSON already.
	e.SetDataContentType(event.ApplicationJSON)
	e.DataEncoded = bytes.TrimSpace(data.Bytes())
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("message as a CloudEvent: %w", err)
	}
	return e.MarshalJSON()
}

// exchange sends a request and takes the answer. It goes to the transport itself:
// a client would follow redirects, and tell the URL in its errors.
func (c *call) exchange(r *http.Request) (*answer, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), c.timeout, fmt.Errorf("no full answer within %s", c.timeout))
	defer cancel()
	a, err := c.receive(r.WithContext(ctx))
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return a, err
}

func (c *call) receive(r *http.Request) (*answer, error) {
	res, err := c.settings.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &answer{url: r.URL, status: res.StatusCode, header: res.Header}
	switch {
	case a.ok():
		body := &bounded{limit: c.settings.MaxOutput, exceeded: func(error) {}}
		_, err = io.Copy(body, res.Body)
		a.body = body.data
	case a.status >= 300:
		// What can be read of the body is only there to explain the status. After 101
		// it would be a connection that does not end with the context.
		a.body, _ = io.ReadAll(io.LimitReader(res.Body, explanationSize))
	}
	return a, err
}

// newTransport keeps connections, which end after a while without requests.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		MaxIdleConns:           2 * maxConnections,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        30 * time.Second,
	}
}
