package main

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

const want = `
 0s  process 1 opens canada.map (coast), lease 11111111-1111-4111-8111-111111111111
 0s  process 1 opens mexico.map (coast), lease 22222222-2222-4222-8222-222222222222
 0s  process 1 opens norway.map (coast), lease 33333333-3333-4333-8333-333333333333
 7s  a colleague breaks the lease of mexico.map
10s  process 1 loses mexico.map after 3 strokes, and stops: LeaseIsBrokenAndCannotBeRenewed
18s  process 1 has drawn 6 strokes on canada.map and still has the lease
18s  process 1 has drawn 6 strokes on norway.map and still has the lease
18s  a colleague asks for the lease of canada.map; granted: false
18s  process 1 dies
30s  a colleague found the lease of norway.map free, and changed the map
31s  process 2 finds the lease of canada.map expired
31s  process 2 adopts lease 11111111-1111-4111-8111-111111111111 and saves the draft
31s  process 2 finds the lease of norway.map available
31s  process 2 cannot adopt lease 33333333-3333-4333-8333-333333333333: LeaseIdMismatchWithLeaseOperation
31s  process 2 opens norway.map (coast, fjords), lease 44444444-4444-4444-8444-444444444444
31s  process 2 gives its leases back
31s  canada.map: coast ~~~~~~; lease available
31s  mexico.map: coast; lease broken
31s  norway.map: coast, fjords; lease available
`

// given stand in the place of the lease IDs, which are others each time.
var given = []string{
	"11111111-1111-4111-8111-111111111111",
	"22222222-2222-4222-8222-222222222222",
	"33333333-3333-4333-8333-333333333333",
	"44444444-4444-4444-8444-444444444444",
}

func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		began := time.Now()
		if err := run(t.Context(), nil, &out); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("run took %v, the README promises less than 40s", took)
		}
		if got := "\n" + replaceIDs(t, out.String()); got != want {
			t.Errorf("run printed%s\nwant%s", got, want)
		}
	})
}

// replaceIDs puts the given IDs in the place of those in text, in the order in
// which they come.
func replaceIDs(t *testing.T, text string) string {
	t.Helper()
	seen := map[string]string{} // :: lease ID → given one
	return regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			if len(seen) == len(given) {
				t.Fatalf("more than %d lease IDs in\n%s", len(given), text)
			}
			seen[id] = given[len(seen)]
		}
		return seen[id]
	})
}

func TestReadmeShowsTheOutput(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if shown := strings.ReplaceAll(strings.TrimSuffix(want, "\n"), "\n", "\n    "); !bytes.Contains(readme, []byte(shown)) {
		t.Errorf("the README does not show%s", shown)
	}
}

func TestLeaseOutOfRange(t *testing.T) {
	for _, lease := range []string{"-1ns", "0s", "10s", "61s"} {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-lease", lease}, &out)
		if !errors.Is(err, store.ErrInvalid) || out.Len() > 0 {
			t.Errorf("run(-lease %s) = %v after %q, want %v at once", lease, err, out.String(), store.ErrInvalid)
		}
	}
}
