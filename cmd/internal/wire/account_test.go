package wire_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
)

func TestOpenAccount(t *testing.T) {
	server := azurite.Start(t)
	for _, test := range []struct {
		name string
		urls []string
		want []string
	}{
		{"sqlite", []string{"sqlite:" + filepath.Join(t.TempDir(), "s.db")}, []string{""}},
		{"Azurite", []string{server.Container(), server.Container()}, []string{"test-1", "test-2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, url := range test.urls {
				if _, err := stat(t, url, &wire.StoreOptions{Create: true}); err != nil {
					t.Fatal(err)
				}
			}
			a, err := wire.OpenAccount(test.urls[0])
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			var names []string
			for info, err := range a.Containers(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, info.Name)
				if _, err := a.Container(info.Name).Put(t.Context(), "b", nil, nil); err != nil {
					t.Errorf("put into container %q: %v", info.Name, err)
				}
			}
			if !slices.Equal(names, test.want) {
				t.Errorf("Containers() = %q, want %q", names, test.want)
			}
		})
	}
}

func TestOpenAccount_Missing(t *testing.T) {
	if _, err := wire.OpenAccount("sqlite:" + filepath.Join(t.TempDir(), "s.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenAccount() of a missing file = %v, want fs.ErrNotExist", err)
	}
	a, err := wire.OpenAccount("mem:")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Containers(t.Context()) {
		if !errors.Is(err, store.ErrContainerNotFound) {
			t.Errorf("Containers() = %v, want %v", err, store.ErrContainerNotFound)
		}
	}
}

func TestOpenAccount_Wrong(t *testing.T) {
	for _, url := range []string{"", "s3:bucket", "https://a.blob.core.windows.net/?sig=c2VjcmV0"} {
		_, err := wire.OpenAccount(url)
		if err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("OpenAccount(%q) = %v, want an error without the signature", url, err)
		}
	}
}
