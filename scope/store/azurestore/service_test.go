package azurestore_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

const (
	testSignature = "SEVSRSBJUyBUSEUgU0VDUkVU"
	signedURL     = "https://orders.blob.core.windows.net/runs?sv=2024-11-04&sig=" + testSignature
	idA           = "aaaaaaaa-0000-4000-8000-00000000000a"
	idB           = "bbbbbbbb-0000-4000-8000-00000000000b"
)

// service is a blob service inside the test, which a synctest bubble may hold.
// It is the transport of a store, and keeps the requests that it gets.
type service struct {
	answer func(w http.ResponseWriter, r *http.Request)
	err    error // instead of each answer, after the request has been carried out

	mu       sync.Mutex // guards the field below
	requests []*http.Request
}

// serve opens a store on a service that answers like this.
func serve(t testing.TB, answer http.HandlerFunc) (*azurestore.Store, *service) {
	t.Helper()
	svc := &service{answer: answer}
	return open(t, signedURL, &azurestore.Options{Transport: svc}), svc
}

// Do implements policy.Transporter as net/http would do it: header keys get
// their canonical form, there is always a body, and errors have the URL.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	seen := r.Clone(r.Context())
	seen.Header = http.Header{}
	for key, values := range r.Header {
		for _, value := range values {
			seen.Header.Add(key, value)
		}
	}
	body, err := readAll(r.Body)
	if err != nil {
		return nil, err
	}
	seen.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.requests = append(s.requests, seen)
	s.mu.Unlock()

	recorder := httptest.NewRecorder()
	s.answer(recorder, seen)
	if err := r.Context().Err(); s.err != nil || err != nil {
		return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: cmp.Or(err, s.err)}
	}
	answer := recorder.Result()
	answer.Request = r
	answer.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if n, err := strconv.ParseInt(answer.Header.Get("Content-Length"), 10, 64); err == nil {
		answer.ContentLength = n
	}
	return answer, nil
}

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return io.ReadAll(body)
}

// sent returns the requests so far.
func (s *service) sent() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.requests...)
}

// status answers with a status, and with an error code if there is one.
func status(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if code != "" {
			w.Header().Set("X-Ms-Error-Code", code)
		}
		w.Header().Set("X-Ms-Request-Id", "request-7")
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(status)
	}
}

// succeed answers each kind of request with its status of success.
func succeed(w http.ResponseWriter, r *http.Request) {
	code := http.StatusOK
	switch action := r.Header.Get("X-Ms-Lease-Action"); {
	case action == "break", r.Method == http.MethodDelete:
		code = http.StatusAccepted
	case action == "acquire", r.Method == http.MethodPut && action == "":
		code = http.StatusCreated
	}
	if r.URL.Query().Get("comp") == "list" {
		io.WriteString(w, `<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>`)
		return
	}
	status(code, "")(w, r)
}

// doing makes one call.
type doing func(ctx context.Context, s *azurestore.Store) error

// call is one call of the store. once tells that it must not be repeated.
type call struct {
	name string
	once bool
	do   doing
}

// calls are all requests that a store makes, on a blob and on the container.
func calls() []call {
	get := func(c *store.Conditions) doing {
		return func(ctx context.Context, s *azurestore.Store) error { _, err := s.Get(ctx, "a", c); return err }
	}
	stat := func(name string, c *store.Conditions) doing {
		return func(ctx context.Context, s *azurestore.Store) error { _, err := s.Stat(ctx, name, c); return err }
	}
	put := func(c store.Conditions) doing {
		return func(ctx context.Context, s *azurestore.Store) error {
			_, err := s.Put(ctx, "a", []byte("content"), &store.PutOptions{Conditions: c})
			return err
		}
	}
	remove := func(name string, c *store.Conditions) doing {
		return func(ctx context.Context, s *azurestore.Store) error { return s.Delete(ctx, name, c) }
	}
	list := func(ctx context.Context, s *azurestore.Store) error {
		for _, err := range s.List(ctx, "") {
			return err
		}
		return nil
	}
	all := []call{
		{"create", true, func(ctx context.Context, s *azurestore.Store) error { return s.Create(ctx) }},
		{"get", false, get(nil)},
		{"get if changed", true, get(&store.Conditions{IfNoneMatch: `"1"`})},
		{"get under lease", true, get(&store.Conditions{LeaseID: idA})},
		{"stat", false, stat("a", nil)},
		{"stat of the container", false, stat("", nil)},
		{"stat under lease", true, stat("a", &store.Conditions{LeaseID: idA})},
		{"list", false, list},
		{"put", true, put(store.Conditions{})},
		{"put if matches", true, put(store.Conditions{IfMatch: `"1"`, LeaseID: idA})},
		{"put if new", true, put(store.Conditions{IfNoneMatch: store.AnyETag})},
		{"delete", true, remove("a", nil)},
		{"delete under lease", true, remove("a", &store.Conditions{LeaseID: idA})},
		{"delete of the container", true, remove("", &store.Conditions{LeaseID: idA})},
	}
	for _, name := range []string{"a", ""} {
		for _, r := range leaseRequests() {
			all = append(all, call{string(r.Action) + " of " + strconv.Quote(name), true, func(ctx context.Context, s *azurestore.Store) error {
				_, err := s.Lease(ctx, name, &r)
				return err
			}})
		}
	}
	return all
}

func leaseRequests() []store.LeaseRequest {
	return []store.LeaseRequest{
		{Action: store.LeaseAcquire, ID: idA, Duration: store.MaxLease},
		{Action: store.LeaseRenew, ID: idA},
		{Action: store.LeaseChange, ID: idA, NewID: idB},
		{Action: store.LeaseRelease, ID: idA},
		{Action: store.LeaseBreak},
	}
}

// newServer starts a service on a socket; watch sees the states of connections.
func newServer(t *testing.T, answer http.HandlerFunc, watch func(http.ConnState)) *httptest.Server {
	server := httptest.NewUnstartedServer(answer)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) { watch(state) }
	server.Start()
	t.Cleanup(server.Close)
	return server
}
