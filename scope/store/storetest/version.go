package storetest

import (
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func versionChecks() []check {
	return []check{{key: "version/another one after a put", run: versionChanges}}
}

// versionChanges holds a store that offers versions to them.
func versionChanges(t *testing.T, s store.Store) {
	v, ok := s.(store.Versioner)
	if !ok {
		return
	}
	version := func() uint64 {
		n, err := v.Version(t.Context())
		if err != nil {
			t.Fatalf("Version() = %v", err)
		}
		return n
	}
	before := version()
	if again := version(); again != before {
		t.Errorf("Version() = %d, then %d, though nothing was written", before, again)
	}
	mustPut(t, s, "a", "1", nil)
	after := version()
	if after == before {
		t.Errorf("Version() = %d before and after a put", after)
	}
	mustPut(t, s, "a", "2", nil)
	if again := version(); again == after {
		t.Errorf("Version() = %d before and after a put over a blob", again)
	}
}
