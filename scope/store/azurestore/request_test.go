package azurestore_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

func TestStore_NamesTheVersion(t *testing.T) {
	for _, c := range calls() {
		s, svc := serve(t, succeed)
		if err := c.do(t.Context(), s); err != nil {
			t.Errorf("%s = %v", c.name, err)
		}
		for _, r := range svc.sent() {
			if got, want := r.Header.Values("X-Ms-Version"), []string{"2024-11-04"}; !slices.Equal(got, want) {
				t.Errorf("%s: x-ms-version = %q, want %q", c.name, got, want)
			}
		}
	}
}

// The second try of a write that was carried out would report a conflict with
// the first one.
func TestStore_SendsOnce(t *testing.T) {
	for _, answer := range []http.HandlerFunc{
		status(http.StatusServiceUnavailable, ""),
		status(http.StatusServiceUnavailable, "ServerBusy"),
		status(http.StatusInternalServerError, "OperationTimedOut"),
		status(http.StatusTooManyRequests, ""),
		status(http.StatusTemporaryRedirect, ""),
	} {
		for _, c := range calls() {
			synctest.Test(t, func(t *testing.T) {
				s, svc := serve(t, answer)
				if err := c.do(t.Context(), s); err == nil {
					t.Errorf("%s succeeded", c.name)
				}
				if n := len(svc.sent()); c.once && n != 1 {
					t.Errorf("%s was sent %d times", c.name, n)
				}
			})
		}
	}
}

func TestStore_RepeatsPlainReads(t *testing.T) {
	for _, c := range calls() {
		if c.once {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			n := 0
			s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n++; n < 4 {
					status(http.StatusServiceUnavailable, "ServerBusy")(w, r)
					return
				}
				succeed(w, r)
			})
			if err := c.do(t.Context(), s); err != nil || n != 4 {
				t.Errorf("%s after three failures = %v with %d requests", c.name, err, n)
			}
			n = -1 // one failure more
			if err := c.do(t.Context(), s); !errors.Is(err, store.ErrThrottled) || n != 3 {
				t.Errorf("%s after four failures = %v with %d requests, want %v with 4", c.name, err, n+1, store.ErrThrottled)
			}
		})
	}
}

func TestStore_LostAnswer(t *testing.T) {
	for _, c := range calls() {
		if !c.once {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			s, svc := serve(t, succeed)
			svc.err = io.ErrUnexpectedEOF
			err := c.do(t.Context(), s)
			if n := len(svc.sent()); n != 1 {
				t.Errorf("%s was sent %d times", c.name, n)
			}
			wantUnknown(t, c.name, err)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s = %v, want %v in it", c.name, err, io.ErrUnexpectedEOF)
			}
		})
	}
}

func TestStore_Timeout(t *testing.T) {
	for _, c := range calls() {
		synctest.Test(t, func(t *testing.T) {
			s, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			began := time.Now()
			err := c.do(t.Context(), s)
			if took := time.Since(began); c.once && took > 5*time.Minute {
				t.Errorf("%s took %v", c.name, took)
			}
			wantUnknown(t, c.name, err)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s = %v, want %v in it", c.name, err, context.DeadlineExceeded)
			}
		})
	}
}

func TestStore_Canceled(t *testing.T) {
	s, _ := serve(t, succeed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Put(ctx, "a", nil, nil)
	wantUnknown(t, "put", err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Put() = %v, want %v in it", err, context.Canceled)
	}
}

// wantUnknown checks that an error matches no sentinel.
func wantUnknown(t *testing.T, name string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Sentinel != nil {
		t.Errorf("%s = %v, want an unknown outcome", name, err)
	}
}

// sentBy returns the only request that a call makes.
func sentBy(t *testing.T, do func(*azurestore.Store) error) *http.Request {
	t.Helper()
	s, svc := serve(t, succeed)
	if err := do(s); err != nil {
		t.Fatal(err)
	}
	if n := len(svc.sent()); n != 1 {
		t.Fatalf("%d requests were sent", n)
	}
	return svc.sent()[0]
}

func TestStore_WritesNameTheLease(t *testing.T) {
	c := store.Conditions{LeaseID: strings.ToUpper(idA)}
	for name, do := range map[string]func(*azurestore.Store) error{
		"put": func(s *azurestore.Store) error {
			_, err := s.Put(t.Context(), "a", nil, &store.PutOptions{Conditions: c})
			return err
		},
		"delete":              func(s *azurestore.Store) error { return s.Delete(t.Context(), "a", &c) },
		"delete of container": func(s *azurestore.Store) error { return s.Delete(t.Context(), "", &c) },
		"get":                 func(s *azurestore.Store) error { _, err := s.Get(t.Context(), "a", &c); return err },
		"stat":                func(s *azurestore.Store) error { _, err := s.Stat(t.Context(), "a", &c); return err },
		"stat of container":   func(s *azurestore.Store) error { _, err := s.Stat(t.Context(), "", &c); return err },
	} {
		if got := sentBy(t, do).Header.Get("X-Ms-Lease-Id"); got != idA {
			t.Errorf("%s: x-ms-lease-id = %q, want %q", name, got, idA)
		}
	}
}

func TestStore_LeaseHeaders(t *testing.T) {
	upper := strings.ToUpper(idA)
	for _, test := range []struct {
		name    string
		request store.LeaseRequest
		want    map[string]string // "" means that the header is absent
	}{
		{"acquire", store.LeaseRequest{Action: store.LeaseAcquire, ID: upper, Duration: 15 * time.Second},
			map[string]string{"X-Ms-Proposed-Lease-Id": idA, "X-Ms-Lease-Duration": "15"}},
		{"acquire without end", store.LeaseRequest{Action: store.LeaseAcquire, ID: upper, Duration: store.LeaseInfinite},
			map[string]string{"X-Ms-Lease-Duration": "-1"}},
		{"renew", store.LeaseRequest{Action: store.LeaseRenew, ID: upper}, map[string]string{"X-Ms-Lease-Id": idA}},
		{"change", store.LeaseRequest{Action: store.LeaseChange, ID: upper, NewID: strings.ToUpper(idB)},
			map[string]string{"X-Ms-Lease-Id": idA, "X-Ms-Proposed-Lease-Id": idB}},
		{"release", store.LeaseRequest{Action: store.LeaseRelease, ID: upper}, map[string]string{"X-Ms-Lease-Id": idA}},
		{"break at once", store.LeaseRequest{Action: store.LeaseBreak},
			map[string]string{"X-Ms-Lease-Break-Period": "0", "X-Ms-Lease-Id": ""}},
		{"break later", store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: time.Minute},
			map[string]string{"X-Ms-Lease-Break-Period": "60"}},
		{"break naturally", store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: store.BreakNaturally},
			map[string]string{"X-Ms-Lease-Break-Period": ""}},
	} {
		for _, blob := range []string{"a", ""} {
			r := sentBy(t, func(s *azurestore.Store) error { _, err := s.Lease(t.Context(), blob, &test.request); return err })
			test.want["X-Ms-Lease-Action"] = string(test.request.Action)
			for key, want := range test.want {
				if got := r.Header.Get(key); got != want {
					t.Errorf("%s of %q: %s = %q, want %q", test.name, blob, key, got, want)
				}
			}
		}
	}
}

func TestStore_FreshLeaseIDs(t *testing.T) {
	s, svc := serve(t, succeed)
	for range 2 {
		if _, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease}); err != nil {
			t.Fatal(err)
		}
	}
	sent := svc.sent()
	a, b := sent[0].Header.Get("X-Ms-Proposed-Lease-Id"), sent[1].Header.Get("X-Ms-Proposed-Lease-Id")
	if a == b || len(a) != len(idA) || a != strings.ToLower(a) {
		t.Errorf("two acquires propose %q and %q, want two lower-case GUIDs", a, b)
	}
}

func TestStore_Conditions(t *testing.T) {
	at := time.Date(2026, 11, 30, 8, 15, 0, 0, time.FixedZone("CET", 3600))
	const atText = "Mon, 30 Nov 2026 07:15:00 GMT"
	changed := store.Conditions{IfNoneMatch: `"1"`, IfModifiedSince: at}
	unchanged := store.Conditions{IfMatch: `"1"`, IfUnmodifiedSince: at}
	for _, c := range []store.Conditions{changed, unchanged} {
		for name, do := range map[string]func(*azurestore.Store) error{
			"get":  func(s *azurestore.Store) error { _, err := s.Get(t.Context(), "a", &c); return err },
			"stat": func(s *azurestore.Store) error { _, err := s.Stat(t.Context(), "a", &c); return err },
			"put": func(s *azurestore.Store) error {
				_, err := s.Put(t.Context(), "a", nil, &store.PutOptions{Conditions: c})
				return err
			},
			"delete": func(s *azurestore.Store) error { return s.Delete(t.Context(), "a", &c) },
			"break": func(s *azurestore.Store) error {
				_, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseBreak, Conditions: c})
				return err
			},
		} {
			h := sentBy(t, do).Header
			got := []string{h.Get("If-Match"), h.Get("If-None-Match"), h.Get("If-Modified-Since"), h.Get("If-Unmodified-Since")}
			want := []string{c.IfMatch, c.IfNoneMatch, atText, ""}
			if c.IfMatch != "" {
				want[2], want[3] = "", atText
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: conditions %q, want %q", name, got, want)
			}
		}
	}
}

func TestStore_PutTooLarge(t *testing.T) {
	s, svc := serve(t, succeed)
	_, err := s.Put(t.Context(), "a", make([]byte, azurestore.MaxBody+1), nil)
	if !errors.Is(err, store.ErrTooLarge) || store.Code(err) != "RequestBodyTooLarge" || len(svc.sent()) != 0 {
		t.Errorf("Put() = %v with %d requests, want %v before any", err, len(svc.sent()), store.ErrTooLarge)
	}
}

// lateReader keeps the body of a request and fails it.
type lateReader struct{ body io.Reader }

func (l *lateReader) Do(r *http.Request) (*http.Response, error) {
	l.body = r.Body
	return nil, io.ErrUnexpectedEOF
}

func TestStore_PutTakesBodyBack(t *testing.T) {
	late := &lateReader{}
	s := open(t, signedURL, &azurestore.Options{Transport: late})
	if _, err := s.Put(t.Context(), "a", []byte("content"), nil); err == nil {
		t.Error("Put() succeeded")
	}
	if n, err := late.body.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("after Put: Read() of its body = %d, %v, want an error", n, err)
	}
}

func TestStore_CloseClosesConnections(t *testing.T) {
	closed := make(chan struct{})
	server := newServer(t, status(http.StatusCreated, ""), func(state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	})
	s := open(t, server.URL+"/devstoreaccount1/runs", nil)
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	select {
	case <-closed:
	case <-time.After(30 * time.Second): // idle connections end by themselves after 90 s
		t.Error("Close() leaves a connection open")
	}
}

func TestStore_FollowsNoRedirection(t *testing.T) {
	var requests atomic.Int32
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}, func(http.ConnState) {})
	s := open(t, server.URL+"/devstoreaccount1/runs", nil)
	_, err := s.Put(t.Context(), "a", []byte("content"), nil)
	wantUnknown(t, "put", err)
	if n := requests.Load(); n != 1 {
		t.Errorf("Put() makes %d requests, want 1", n)
	}
}
