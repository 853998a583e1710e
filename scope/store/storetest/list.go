package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func listChecks() []check {
	return []check{
		{key: "list/nothing", run: listNothing},
		{key: "list/prefix and order", run: listPrefix},
		{key: "list/shows metadata, ETag and lease", run: listShows},
		{key: "list/many", run: listMany},
		{key: "list/may be left early and nested", run: listLeft},
		{key: "list/may change the blobs it shows", run: listDeletes},
		{key: "list/ends with the context", run: listCanceled},
	}
}

// names lists the names under a prefix.
func names(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	var all []string
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List(%q) = %v", prefix, err)
		}
		all = append(all, info.Name)
	}
	return all
}

func listNothing(t *testing.T, s store.Store) {
	if got := names(t, s, ""); len(got) != 0 {
		t.Errorf("List() of an empty container = %q", got)
	}
	mustPut(t, s, "a", "", nil)
	if got := names(t, s, "b"); len(got) != 0 {
		t.Errorf("List(b) = %q, want nothing", got)
	}
}

func listPrefix(t *testing.T, s store.Store) {
	for _, name := range []string{"b", "a/2", "a/10", "a/1", "a", "a-", "A", "ab", "é", "a/1/x"} {
		mustPut(t, s, name, "", nil)
	}
	for prefix, want := range map[string][]string{
		"":     {"A", "a", "a-", "a/1", "a/1/x", "a/10", "a/2", "ab", "b", "é"},
		"a/":   {"a/1", "a/1/x", "a/10", "a/2"},
		"a/1":  {"a/1", "a/1/x", "a/10"},
		"a/10": {"a/10"},
		"é":    {"é"},
	} {
		if got := names(t, s, prefix); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func listShows(t *testing.T, s store.Store) {
	put := mustPut(t, s, "a", "body", &store.PutOptions{Metadata: texts})
	if _, err := s.Lease(t.Context(), "a", new(acquire(idA, store.LeaseInfinite))); err != nil {
		t.Fatal(err)
	}
	for info, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatalf("List() = %v", err)
		}
		sameBlob(t, "List", info, put, 4)
		if !sameMetadata(info.Metadata, texts) {
			t.Errorf("List() has metadata %q, want %q", info.Metadata, texts)
		}
		if info.Lease.State != store.LeaseLeased || !info.Lease.Infinite {
			t.Errorf("List() has lease %+v, want an infinite one", info.Lease)
		}
	}
}

// listMany needs more than a page of a store that reads by hundreds. A service
// reads by thousands, which its driver has to test otherwise.
func listMany(t *testing.T, s store.Store) {
	many := 50
	if store.IsLocal(s) {
		many = 520
	}
	var want []string
	for i := range many {
		want = append(want, fmt.Sprintf("many/%05d", i))
		mustPut(t, s, want[i], "", nil)
	}
	mustPut(t, s, "other", "", nil)
	if got := names(t, s, "many/"); !slices.Equal(got, want) {
		t.Errorf("List() = %d names, want %d in order", len(got), len(want))
	}
}

func listLeft(t *testing.T, s store.Store) {
	for i := range 20 {
		mustPut(t, s, fmt.Sprint("blob", i), "", nil)
	}
	seen := 0
	for range 20 {
		for _, err := range s.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			seen += len(names(t, s, "blob1"))
			break
		}
	}
	if seen != 20*11 {
		t.Errorf("saw %d blobs in loops that were left, want %d", seen, 20*11)
	}
}

func listDeletes(t *testing.T, s store.Store) {
	for i := range 20 {
		mustPut(t, s, fmt.Sprint("blob", i), "", nil)
	}
	for info, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), info.Name, &store.Conditions{IfMatch: info.ETag}); err != nil {
			t.Errorf("Delete() of what List() shows = %v", err)
		}
	}
	if got := names(t, s, ""); len(got) != 0 {
		t.Errorf("List() = %q after all were deleted", got)
	}
}

func listCanceled(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	count := 0
	for info, err := range s.List(ctx, "") {
		count++
		if info != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("List() with a canceled context yields %v, %v", info, err)
		}
	}
	if count != 1 {
		t.Errorf("List() with a canceled context yields %d times, want once", count)
	}
}
