// Package wire turns URLs into drivers. It is the only package that imports every
// driver; whoever needs only one opens it directly and does not pay for the
// others.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// DefaultStore is the store of whoever names none.
const DefaultStore = "sqlite:leasestream.db"

// storeForms are what a store URL may look like, for errors.
const storeForms = "sqlite:PATH, mem:, https://ACCOUNT.blob.core.windows.net/CONTAINER[?SAS] " +
	"or http://127.0.0.1:10000/devstoreaccount1/CONTAINER"

// StoreOptions are how a store is opened; nil means the defaults.
type StoreOptions struct {
	// Create makes the file and the container if they are missing. Without it a
	// missing file is an error that matches fs.ErrNotExist, and a missing container
	// shows with the first request, as store.ErrContainerNotFound.
	Create bool
	// Observe is called with each answer of a store behind HTTP, by whoever made
	// the request, and with when it was sent and received. nil: nobody looks.
	Observe func(sent, received time.Time, header http.Header)
}

// OpenStore opens the store with this URL: sqlite:PATH (a file), mem: (the memory
// of this process), or the URL of a container in Azure or in an Azurite on this
// machine, whose credentials package azurestore describes. The context is for
// creating only. No error shows a secret of the URL.
func OpenStore(ctx context.Context, storeURL string, o *StoreOptions) (store.Store, error) {
	if o == nil {
		o = &StoreOptions{}
	}
	s, err := openStore(storeURL, o)
	if err != nil || !o.Create {
		return s, err
	}
	if err := s.Create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("store %q: %w", Redact(storeURL), err), s.Close())
	}
	return s, nil
}

func openStore(storeURL string, o *StoreOptions) (store.Store, error) {
	scheme, rest, _ := strings.Cut(storeURL, ":")
	switch {
	case storeURL == "mem:":
		return memstore.New(nil), nil
	case scheme == "sqlite" && rest != "" && !strings.HasPrefix(rest, "//"):
		return orNil(sqlitestore.Open(rest, &sqlitestore.Options{MustExist: !o.Create}))
	case isAzure(storeURL):
		s, err := orNil(azurestore.Open(storeURL, o.azure()))
		if err != nil {
			return nil, fmt.Errorf("store %q: %w", Redact(storeURL), err)
		}
		return s, nil
	}
	return nil, errors.New(wrongStore(storeURL) + "; a store is " + storeForms)
}

func isAzure(storeURL string) bool {
	scheme, _, _ := strings.Cut(storeURL, ":")
	return scheme == "https" || scheme == "http"
}

// orNil makes a nil interface of a nil driver.
func orNil[S store.Store](s S, err error) (store.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

var (
	schemeForm = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*):`)
	fileForm   = regexp.MustCompile(`^[\w./ -]+\.(db|sqlite|sqlite3)$`)
)

// wrongStore says what a URL is that is none of ours. It repeats only what can be
// no secret.
func wrongStore(storeURL string) string {
	scheme := schemeForm.FindStringSubmatch(storeURL)
	switch {
	case storeURL == "":
		return "the store URL is empty"
	case strings.Contains(storeURL, "AccountName=") || strings.Contains(storeURL, "SharedAccessSignature="):
		return "the store URL is a connection string: put that into AZURE_STORAGE_CONNECTION_STRING, and give the URL of a container"
	case fileForm.MatchString(storeURL):
		return fmt.Sprintf("the store URL %q is only a path: write sqlite:%s", storeURL, storeURL)
	case scheme == nil:
		return "the store URL does not begin with a scheme"
	case scheme[1] == "sqlite":
		return "the store URL has no path, or // before it"
	}
	return fmt.Sprintf("the store URL begins with %q, which is not known, or ends too early", scheme[0])
}

// Redact returns a store URL as it may be printed and logged: without
// signature, user and password.
func Redact(storeURL string) string {
	scheme, rest, _ := strings.Cut(storeURL, ":")
	switch scheme {
	case "sqlite":
		return storeURL
	case "mem":
		if rest == "" {
			return storeURL
		}
	case "https", "http":
		u, err := url.Parse(storeURL)
		if err != nil {
			return scheme + ":…"
		}
		shown := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		if u.RawQuery != "" {
			shown += "?…"
		}
		return shown
	}
	return "…"
}
