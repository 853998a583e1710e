package azurestore_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

func openAccount(t *testing.T, containerURL string, o *azurestore.Options) *azurestore.Account {
	t.Helper()
	a, err := azurestore.OpenAccount(containerURL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// containers lists an account: each container with the state of its lease.
func containers(ctx context.Context, a *azurestore.Account) ([]string, error) {
	var found []string
	for info, err := range a.Containers(ctx) {
		if err != nil {
			return found, err
		}
		line := info.Name + " " + string(info.Lease.State)
		if info.Lease.Infinite {
			line += " infinite"
		}
		found = append(found, line)
	}
	return found, nil
}

func TestAccount(t *testing.T) {
	server := azurite.Start(t)
	urls := []string{server.Container(), server.Container(), server.Container()}
	for _, u := range urls {
		if err := open(t, u, nil).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lease := func(s *azurestore.Store, r store.LeaseRequest) {
		t.Helper()
		if _, err := s.Lease(t.Context(), "", &r); err != nil {
			t.Fatal(err)
		}
	}
	lease(open(t, urls[0], nil), store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.LeaseInfinite})
	lease(open(t, urls[1], nil), store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MaxLease})

	a := openAccount(t, urls[2], nil)
	want := []string{"test-1 leased infinite", "test-2 leased", "test-3 available"}
	if got, err := containers(t.Context(), a); err != nil || !slices.Equal(got, want) {
		t.Errorf("Containers() = %q, %v, want %q", got, err, want)
	}
	lease(a.Container("test-1"), store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: 0})
	lease(a.Container("test-2"), store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: 0})
	want = []string{"test-1 broken", "test-2 broken", "test-3 available"}
	if got, err := containers(t.Context(), a); err != nil || !slices.Equal(got, want) {
		t.Errorf("Containers() = %q, %v, want %q", got, err, want)
	}
	for range a.Containers(t.Context()) {
		break // must not go on
	}
}

func TestAccount_Pages(t *testing.T) {
	pages := map[string]string{
		"":  `<Container><Name>a</Name><Properties><Etag>"0x1"</Etag><LeaseState>leased</LeaseState><LeaseDuration>fixed</LeaseDuration></Properties></Container></Containers><NextMarker>b</NextMarker>`,
		"b": `<Container><Name>b</Name><Properties><LeaseState>available</LeaseState></Properties></Container></Containers><NextMarker/>`,
	}
	svc := &service{answer: func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `<EnumerationResults><Containers>`+pages[r.URL.Query().Get("marker")]+`</EnumerationResults>`)
	}}
	a := openAccount(t, signedURL, &azurestore.Options{Transport: svc})
	if got, err := containers(t.Context(), a); err != nil || !slices.Equal(got, []string{"a leased", "b available"}) {
		t.Errorf("Containers() = %q, %v, want both pages", got, err)
	}
	for _, r := range svc.sent() {
		if r.URL.Host != "orders.blob.core.windows.net" || r.URL.Path != "/" || r.URL.Query().Get("sig") != testSignature {
			t.Errorf("sent to %s, want the root of the account with the signature", r.URL)
		}
	}
}

// A signature of the container is no help for the account, and is not shown.
func TestAccount_Refused(t *testing.T) {
	svc := &service{answer: status(http.StatusForbidden, "AuthorizationFailure")}
	_, err := containers(t.Context(), openAccount(t, signedURL, &azurestore.Options{Transport: svc}))
	if !errors.Is(err, store.ErrUnauthorized) || !strings.Contains(err.Error(), `list containers of "orders"`) ||
		!strings.Contains(err.Error(), "take one of the account") {
		t.Errorf("Containers() = %v, want what is missing", err)
	}
	if err != nil && strings.Contains(err.Error(), testSignature) {
		t.Errorf("Containers() shows the signature: %v", err)
	}
}

// A container of the account is reached with the account's signature.
func TestAccount_ContainerURL(t *testing.T) {
	svc := &service{answer: succeed}
	s := openAccount(t, signedURL, &azurestore.Options{Transport: svc}).Container("other")
	if _, err := s.Stat(t.Context(), "streams/a.xml", nil); err != nil {
		t.Fatal(err)
	}
	const want = "/other/streams/a.xml"
	if got := svc.sent()[0].URL; got.Path != want || got.Query().Get("sig") != testSignature {
		t.Errorf("sent to %s, want %s with the signature", got, want)
	}
}

func TestOpenAccount_Wrong(t *testing.T) {
	for _, wrong := range []string{"", "https://a.blob.core.windows.net/", "ftp://a.b/c-1"} {
		if _, err := azurestore.OpenAccount(wrong, nil); err == nil {
			t.Errorf("OpenAccount(%q) succeeded", wrong)
		}
	}
}
