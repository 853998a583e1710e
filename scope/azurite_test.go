package scope_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// The tests of this file make requests and answers go astray between a scope and
// Azurite, over HTTP.

// lateness is longer than the leases of these tests last.
const lateness = store.MinLease + time.Second

// way opens a container through something that makes mishaps. settle returns when
// all requests have arrived that are late.
type way func(container string, hook storetest.HTTPHook) (s *azurestore.Store, settle func() error, err error)

var ways = map[string]way{
	"transport": func(container string, hook storetest.HTTPHook) (*azurestore.Store, func() error, error) {
		pool := &http.Transport{}
		transport := storetest.NewTransport(pool, lateness, hook)
		s, err := azurestore.Open(container, &azurestore.Options{Transport: &http.Client{Transport: transport}})
		return s, func() error { transport.Wait(); pool.CloseIdleConnections(); return nil }, err
	},
	"proxy": func(container string, hook storetest.HTTPHook) (*azurestore.Store, func() error, error) {
		u, err := url.Parse(container)
		if err != nil {
			return nil, nil, err
		}
		proxy, err := storetest.NewProxy(u.Host, lateness, hook)
		if err != nil {
			return nil, nil, err
		}
		u.Host = proxy.Addr()
		s, err := azurestore.Open(u.String(), nil)
		return s, proxy.Close, err
	},
}

// azuriteBlob is a container with one empty stream in it, and a store to look at
// it that meets no mishaps.
func azuriteBlob(ctx context.Context, server *azurite.Server) (container string, clean *azurestore.Store, err error) {
	container = server.Container()
	if clean, err = azurestore.Open(container, nil); err != nil {
		return "", nil, err
	}
	if err := clean.Create(ctx); err != nil {
		return "", nil, err
	}
	_, err = clean.Put(ctx, blob, nil, nil)
	return container, clean, err
}

// through runs f with a scope whose requests meet the mishaps, and returns when
// everything has settled.
func (over way) through(container string, hook storetest.HTTPHook, f func(*scope.Scope) error) error {
	st, settle, err := over(container, hook)
	if err != nil {
		return err
	}
	s := scope.New(st, &scope.Options{
		Lease: store.MinLease, CallTimeout: 2 * time.Second, PollMax: 100 * time.Millisecond,
	})
	return errors.Join(f(s), s.Close(), settle(), st.Close())
}

// eventNames are those of the events in the blob.
func eventNames(ctx context.Context, clean *azurestore.Store) ([]string, error) {
	object, err := clean.Get(ctx, blob, nil)
	if err != nil {
		return nil, err
	}
	stream, err := eventstream.Parse(object.Body)
	if err != nil {
		return nil, err
	}
	return namesOf(stream), nil
}

// editAll makes edits one after the other that each add an event.
func editAll(ctx context.Context, names ...string) func(*scope.Scope) error {
	return func(s *scope.Scope) error {
		for _, name := range names {
			if _, err := s.Edit(ctx, blob, add(name)); err != nil {
				return fmt.Errorf("edit %s: %w", name, err)
			}
		}
		return nil
	}
}

// One request meets a mishap, and the caller goes on: the same document as
// without, for each request and each mishap, nothing lost and nothing twice. Where
// it is late, it arrives when the lease that it names has passed.
func TestAzurite_EachRequestMeetsEachMishap(t *testing.T) {
	t.Parallel()
	const requests = 6 // of three edits: acquire, read, three uploads, release
	server := azurite.Start(t)
	for _, m := range storetest.Mishaps() {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			for name, over := range ways {
				for n := range requests {
					all.Go(func() {
						container, clean, err := azuriteBlob(t.Context(), server)
						if err == nil {
							err = over.through(container, storetest.Only(n+1, m), editAll(t.Context(), "a", "b", "c"))
						}
						wantEvents(t, fmt.Sprintf("%s of request %d over %s", m, n+1, name), clean, err, "a", "b", "c")
					})
				}
			}
			all.Wait()
		})
	}
}

// wantEvents checks what came of edits, in a goroutine of the test, too.
func wantEvents(t *testing.T, after string, clean *azurestore.Store, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", after, err)
		return
	}
	defer clean.Close()
	if got, err := eventNames(t.Context(), clean); !slices.Equal(got, want) || err != nil {
		t.Errorf("%s: events = %q, %v; want %q", after, got, err, want)
	}
}

// Writers, each of which loses a request or an answer now and then: every edit is
// there once.
func TestAzurite_ManyWritersWithMishaps(t *testing.T) {
	t.Parallel()
	const scopes, edits = 4, 5
	server := azurite.Start(t)
	container, clean, err := azuriteBlob(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer clean.Close()
	often := []storetest.Mishap{storetest.Reset, storetest.NoAnswer, storetest.Busy, storetest.CutAnswer, storetest.Unavailable}
	hook := func(n int, _ *http.Request) storetest.Mishap {
		if n%5 == 0 {
			return often[n/5%len(often)]
		}
		return storetest.None
	}
	var want []string
	var all sync.WaitGroup
	for i := range scopes {
		var names []string
		for j := range edits {
			names = append(names, fmt.Sprintf("%d.%d", i, j))
		}
		over := ways[[]string{"transport", "proxy"}[i%2]]
		all.Go(func() {
			if err := over.through(container, hook, editAll(t.Context(), names...)); err != nil {
				t.Errorf("scope %d: %v", i, err)
			}
		})
		want = append(want, names...)
	}
	all.Wait()
	got, err := eventNames(t.Context(), clean)
	if slices.Sort(got); !slices.Equal(got, want) || err != nil {
		t.Errorf("events = %q, %v; want %q", got, err, want)
	}
}

// An upload meets a mishap, and before we can look another holder has taken the
// lease and written.
func TestAzurite_BuiltUpon(t *testing.T) {
	t.Parallel()
	server := azurite.Start(t)
	for m, want := range map[storetest.Mishap][]string{
		storetest.Reset:       {"before", "theirs", "ours", "after"},
		storetest.NoAnswer:    {"before", "ours", "theirs", "after"},
		storetest.CutAnswer:   {"before", "ours", "theirs", "after"},
		storetest.Unavailable: {"before", "ours", "theirs", "after"},
		storetest.Busy:        {"before", "theirs", "ours", "after"},
	} {
		for name, over := range ways {
			container, clean, err := azuriteBlob(t.Context(), server)
			if err == nil {
				err = over.through(container, overtaken(t, clean, m), editAll(t.Context(), "before", "ours", "after"))
			}
			wantEvents(t, fmt.Sprintf("%s over %s", m, name), clean, err, want...)
		}
	}
}

// overtaken makes the second upload meet a mishap, and has another scope break
// the lease and edit before the request that follows.
func overtaken(t *testing.T, clean *azurestore.Store, m storetest.Mishap) storetest.HTTPHook {
	uploads, overtake := 0, false
	return func(_ int, r *http.Request) storetest.Mishap {
		if overtake {
			overtake = false
			breakAndEdit(t, clean)
		}
		if r.Method != http.MethodPut || r.URL.Query().Has("comp") {
			return storetest.None
		}
		if uploads++; uploads == 2 {
			overtake = true
			return m
		}
		return storetest.None
	}
}

func breakAndEdit(t *testing.T, clean *azurestore.Store) {
	_, err := clean.Lease(t.Context(), blob, &store.LeaseRequest{Action: store.LeaseBreak})
	if err != nil {
		t.Errorf("break of the lease = %v", err)
	}
	theirs := scope.New(clean, nil)
	if err := errors.Join(editAll(t.Context(), "theirs")(theirs), theirs.Close()); err != nil {
		t.Errorf("edit of another holder = %v", err)
	}
}
