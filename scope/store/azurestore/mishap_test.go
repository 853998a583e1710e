package azurestore_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// way opens a container through something that makes mishaps. settle returns when
// all requests have arrived that are late.
type way func(t *testing.T, container string, hook storetest.HTTPHook) (s *azurestore.Store, settle func())

var ways = map[string]way{
	"transport": func(t *testing.T, container string, hook storetest.HTTPHook) (*azurestore.Store, func()) {
		pool := &http.Transport{}
		t.Cleanup(pool.CloseIdleConnections)
		transport := storetest.NewTransport(pool, 0, hook)
		return open(t, container, &azurestore.Options{Transport: &http.Client{Transport: transport}}), transport.Wait
	},
	"proxy": func(t *testing.T, container string, hook storetest.HTTPHook) (*azurestore.Store, func()) {
		u, err := url.Parse(container)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := storetest.NewProxy(u.Host, 0, hook)
		if err != nil {
			t.Fatal(err)
		}
		settle := func() { proxy.Close() }
		t.Cleanup(settle)
		u.Host = proxy.Addr()
		return open(t, u.String(), nil), settle
	},
}

// write is a request that changes something.
type write struct {
	before []store.LeaseRequest
	do     doing
	done   func(info *store.Info, err error) bool // shows that it was carried out
}

var writes = map[string]write{
	"put": {
		do: func(ctx context.Context, s *azurestore.Store) error {
			_, err := s.Put(ctx, "a", []byte("longer content"), nil)
			return err
		},
		done: func(info *store.Info, _ error) bool { return info.Size == int64(len("longer content")) },
	},
	"delete": {
		do:   func(ctx context.Context, s *azurestore.Store) error { return s.Delete(ctx, "a", nil) },
		done: func(_ *store.Info, err error) bool { return errors.Is(err, store.ErrNotFound) },
	},
	"acquire": {do: leasing(leaseRequests()[0]), done: hasState(store.LeaseLeased)},
	"release": {before: leaseRequests()[:1], do: leasing(leaseRequests()[3]), done: hasState(store.LeaseAvailable)},
	"break":   {before: leaseRequests()[:1], do: leasing(leaseRequests()[4]), done: hasState(store.LeaseBroken)},
}

func leasing(r store.LeaseRequest) doing {
	return func(ctx context.Context, s *azurestore.Store) error {
		_, err := s.Lease(ctx, "a", &r)
		return err
	}
}

func hasState(want store.LeaseState) func(*store.Info, error) bool {
	return func(info *store.Info, _ error) bool { return info.Lease.State == want }
}

func TestAzurite_Mishaps(t *testing.T) {
	t.Parallel()
	server := azurite.Start(t)
	for over, openOver := range ways {
		for _, m := range storetest.Mishaps() {
			for name, w := range writes {
				t.Run(over+"/"+name+"/"+string(m), func(t *testing.T) { w.meet(t, server.Container(), openOver, m) })
			}
		}
	}
	t.Run("reads", func(t *testing.T) { readsDespite(t, server) })
}

// meet has a write meet a mishap. It is carried out or not as the mishap says,
// once, and the error never claims to know otherwise.
func (w write) meet(t *testing.T, container string, openOver way, m storetest.Mishap) {
	clean := open(t, container, nil)
	prepare(t, clean, w.before)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	requests := 0
	s, settle := openOver(t, container, func(int, *http.Request) storetest.Mishap {
		if requests++; m == storetest.Stall || m == storetest.Late {
			cancel() // nothing is to be waited for
		}
		return m
	})
	err := w.do(ctx, s)
	settle()
	checkOutcome(t, m, err)
	if got := w.done(clean.Stat(t.Context(), "a", nil)); got != m.CarriedOut() {
		t.Errorf("it was carried out: %t, want %t", got, m.CarriedOut())
	}
	if requests != 1 {
		t.Errorf("it was sent %d times, want once", requests)
	}
}

// prepare makes the blob a, with a lease if there are requests for one.
func prepare(t *testing.T, s *azurestore.Store, leases []store.LeaseRequest) {
	t.Helper()
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "a", []byte("content"), nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range leases {
		if _, err := s.Lease(t.Context(), "a", &r); err != nil {
			t.Fatal(err)
		}
	}
}

// checkOutcome checks what the caller is told: throttled where the service said
// so, and unknown otherwise. An answer that is cut may have had all that matters.
func checkOutcome(t *testing.T, m storetest.Mishap, err error) {
	t.Helper()
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case err == nil:
		if m != storetest.CutAnswer {
			t.Error("it succeeds, want an error")
		}
	case !ok:
		t.Errorf("%v is no *store.Error", err)
	case m == storetest.Busy && e.Sentinel != store.ErrThrottled:
		t.Errorf("%v, want %v", err, store.ErrThrottled)
	case m != storetest.Busy && e.Sentinel != nil:
		t.Errorf("%v, want an unknown outcome", err)
	}
}

// readsDespite has a read meet each mishap once. It is repeated and has the whole
// blob, unless the answer was cut after it had begun: then it has nothing. The
// reads go on at the same time, since the SDK waits before it tries again.
func readsDespite(t *testing.T, server *azurite.Server) {
	var reads sync.WaitGroup
	for over, openOver := range ways {
		for _, m := range storetest.Mishaps() {
			if m == storetest.Stall {
				continue // to the time-out of the try, which has a test of its own
			}
			container := server.Container()
			prepare(t, open(t, container, nil), nil)
			s, _ := openOver(t, container, storetest.Only(1, m))
			reads.Go(func() {
				object, err := s.Get(t.Context(), "a", nil)
				if err != nil && m != storetest.CutAnswer || err == nil && string(object.Body) != "content" {
					t.Errorf("Get() over %s with %s = %+v, %v; want the blob", over, m, object, err)
				}
			})
		}
	}
	reads.Wait()
}
