package azurestore_test

import (
	"testing"

	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// deviations are where Azurite 3.37.0 answers otherwise than Azure:
//
//	1  a renewal with any ID revives an expired lease, under its old ID
//	4  a write under an expired lease finds no lease, where Azure says that it
//	   has ended
//	5  a write under a lease to a blob that does not exist creates it
//	6  a create-only write to a leased blob finds that it exists, before it misses
//	   the lease ID
//	22 a listing shows no metadata with the name of a single underscore, which its
//	   XML library takes for text
//
// The numbers in between are differences that do not show through the driver,
// which checks IDs and durations itself, or that no test provokes: a restart of
// Azurite ends all finite leases, and its death loses seconds of writes.
func deviations() []storetest.Deviation {
	return []storetest.Deviation{
		{Number: 1, Case: "lease/blob/renew(B)/expired", Answer: "ok leased(A)"},
		{Number: 1, Case: "lease/container/renew(B)/expired", Answer: "ok leased(A)"},
		{Number: 4, Case: "use/blob/put(A)/expired", Answer: "LeaseNotPresentWithBlobOperation expired"},
		{Number: 4, Case: "use/blob/delete(A)/expired", Answer: "LeaseNotPresentWithBlobOperation expired"},
		{Number: 5, Case: "missing/put under a lease", Answer: "ok available"},
		{Number: 6, Case: "conditions/lease missing, IfNoneMatch any", Answer: "BlobAlreadyExists leased(A)"},
		{Number: 22, Case: "metadata/name _", Answer: `ok, but List() has map[]`},
	}
}

// TestAzurite runs the suite over HTTP on the emulator as it comes.
func TestAzurite(t *testing.T) {
	t.Parallel()
	server := azurite.Start(t)
	storetest.Run(t, storetest.Harness{
		Open:       func(t testing.TB) store.Store { return open(t, server.Container(), nil) },
		Deviations: deviations(),
	})
}

// open opens a container for the time of a test.
func open(t testing.TB, containerURL string, o *azurestore.Options) *azurestore.Store {
	t.Helper()
	s, err := azurestore.Open(containerURL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestAzurite_Histories needs no lease to end, but the answers of many clients at
// once.
func TestAzurite_Histories(t *testing.T) {
	t.Parallel()
	server := azurite.Start(t)
	storetest.RunHistories(t, storetest.Harness{
		Open:       func(t testing.TB) store.Store { return open(t, server.Container(), nil) },
		Deviations: deviations(),
	}, storetest.Rounds(40, 2500))
}
