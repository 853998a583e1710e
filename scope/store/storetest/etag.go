package storetest

import (
	"fmt"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func etagChecks() []check {
	return []check{
		{key: "etag/never used again", run: etagUnique},
		{key: "etag/stale one after delete and create", run: etagStale},
	}
}

func etagUnique(t *testing.T, s store.Store) {
	seen := map[string]string{}
	for i := range 20 {
		for _, name := range []string{"a", "b"} {
			info := mustPut(t, s, name, "same", nil)
			at := fmt.Sprintf("put %d of %s", i, name)
			if before := seen[info.ETag]; before != "" {
				t.Fatalf("%s has the ETag %s of %s", at, info.ETag, before)
			}
			seen[info.ETag] = at
		}
		if err := s.Delete(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
	}
}

func etagStale(t *testing.T, s store.Store) {
	old := mustPut(t, s, "a", "", nil)
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "a", "", nil)
	_, err := s.Put(t.Context(), "a", nil, &store.PutOptions{Conditions: store.Conditions{IfMatch: old.ETag}})
	if got := code(err); got != notMet {
		t.Errorf("Put() with the ETag of a blob that was deleted = %s, want %s", got, notMet)
	}
}
