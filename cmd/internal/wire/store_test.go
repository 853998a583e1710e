package wire_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
)

func TestOpenStore(t *testing.T) {
	server := azurite.Start(t)
	for _, test := range []struct {
		name  string
		url   func() string // of a store that is not there
		local bool
		want  error // without Create, of the first that needs it
	}{
		{"sqlite", func() string { return "sqlite:" + filepath.Join(t.TempDir(), "s.db") }, true, fs.ErrNotExist},
		{"memory", func() string { return "mem:" }, true, store.ErrContainerNotFound},
		{"Azurite", server.Container, false, store.ErrContainerNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := stat(t, test.url(), nil); !errors.Is(err, test.want) {
				t.Errorf("without Create: %v, want %v", err, test.want)
			}
			local, err := stat(t, test.url(), &wire.StoreOptions{Create: true})
			if err != nil || local != test.local {
				t.Errorf("with Create: local %t, %v, want local %t", local, err, test.local)
			}
		})
	}
}

// stat opens a store and looks for its container.
func stat(t *testing.T, url string, o *wire.StoreOptions) (local bool, err error) {
	s, err := wire.OpenStore(t.Context(), url, o)
	if err != nil {
		return false, err
	}
	defer s.Close()
	_, err = s.Stat(t.Context(), "", nil)
	return store.IsLocal(s), err
}

func TestOpenStore_MissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	if _, err := wire.OpenStore(t.Context(), "sqlite:"+file, nil); err == nil {
		t.Error("OpenStore() of a missing file succeeded")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("OpenStore() without Create made the file")
	}
}

func TestOpenStore_Wrong(t *testing.T) {
	const secret = "c2VjcmV0"
	for _, test := range []struct{ url, want string }{
		{"", "is empty"},
		{"orders.db", "write sqlite:orders.db"},
		{"sqlite:", "no path"},
		{"sqlite://orders.db", "no path, or // before it"},
		{"s3:bucket", `begins with "s3:"`},
		{"mem:" + secret, `begins with "mem:"`},
		{secret, "does not begin with a scheme"},
		{"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + secret, "is a connection string"},
		{"https://a.blob.core.windows.net/?sig=" + secret, "its path is neither"},
		{"https://me:" + secret + "@a.blob.core.windows.net/c-1", "user name"},
		{"https://%zz" + secret, "not a URL"},
		{"sqlite:" + t.TempDir(), "is a directory"},
	} {
		_, err := wire.OpenStore(t.Context(), test.url, &wire.StoreOptions{Create: true})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("OpenStore(%q) = %v, want an error with %q", test.url, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("OpenStore(%q) shows the secret: %v", test.url, err)
		}
	}
}

func TestOpenStore_CreateFails(t *testing.T) {
	_, err := wire.OpenStore(t.Context(), "http://127.0.0.1:1/devstoreaccount1/orders?sig=c2VjcmV0", &wire.StoreOptions{Create: true})
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("OpenStore() = %v, want what is wrong", err)
	}
	if err != nil && strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("OpenStore() shows the signature: %v", err)
	}
}

func TestRedact(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"sqlite:orders.db", "sqlite:orders.db"},
		{"mem:", "mem:"},
		{"https://a.blob.core.windows.net/orders", "https://a.blob.core.windows.net/orders"},
		{"https://a.blob.core.windows.net/orders?sv=2024&sig=secret", "https://a.blob.core.windows.net/orders?…"},
		{"https://me:secret@a.blob.core.windows.net/orders#secret", "https://a.blob.core.windows.net/orders"},
		{"http://a.b/%zz?sig=secret", "http:…"},
		{"AccountKey=secret", "…"},
		{"mem:secret", "…"},
	} {
		if got := wire.Redact(test.url); got != test.want {
			t.Errorf("Redact(%q) = %q, want %q", test.url, got, test.want)
		}
	}
}
