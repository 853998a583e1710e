package rules_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

const (
	idA = "aaaaaaaa-0000-4000-8000-00000000000a"
	idB = "bbbbbbbb-0000-4000-8000-00000000000b"
)

var start = time.Date(2026, 11, 30, 7, 33, 51, 0, time.UTC)

// The cells of the tables are in the suite that all drivers run. Here is what
// takes a clock that can be set to the nanosecond.
func TestLease_StateAtTheBoundaries(t *testing.T) {
	const tick = time.Nanosecond
	fixed := rules.Lease{ID: idA, Duration: store.MinLease, Ends: start.Add(store.MinLease)}
	forever := rules.Lease{ID: idA, Duration: store.LeaseInfinite}
	breaking := rules.Lease{ID: idA, Duration: store.MinLease, Ends: start.Add(store.MinLease), Breaks: start.Add(5 * time.Second)}
	for _, c := range []struct {
		name  string
		lease rules.Lease
		at    time.Duration
		want  store.LeaseState
	}{
		{"none", rules.Lease{}, 0, store.LeaseAvailable},
		{"fixed, at once", fixed, 0, store.LeaseLeased},
		{"fixed, last moment", fixed, store.MinLease - tick, store.LeaseLeased},
		{"fixed, end", fixed, store.MinLease, store.LeaseExpired},
		{"infinite, in a century", forever, 100 * 365 * 24 * time.Hour, store.LeaseLeased},
		{"breaking, last moment", breaking, 5*time.Second - tick, store.LeaseBreaking},
		{"breaking, end", breaking, 5 * time.Second, store.LeaseBroken},
		{"broken, after the duration too", breaking, time.Hour, store.LeaseBroken},
	} {
		if got := c.lease.State(start.Add(c.at)); got != c.want {
			t.Errorf("%s: State() = %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLease_RefusalChangesNothing goes through all operations in all states.
func TestLease_RefusalChangesNothing(t *testing.T) {
	refused := 0
	for _, l := range someLeases() {
		for _, r := range someRequests() {
			got, err := l.Operate(&r, start)
			if err == nil {
				continue
			}
			refused++
			if got != l {
				t.Errorf("%s with %s on %+v is refused and makes %+v", r.Action, r.ID, l, got)
			}
			if e, ok := errors.AsType[*store.Error](err); !ok || e.Sentinel == nil || e.Code == "" {
				t.Errorf("%s with %s on %+v = %v, want a code and its sentinel", r.Action, r.ID, l, err)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestLease_OneHolder holds that whatever is done, at most one ID may write, and
// nobody else may take it over while it can.
func TestLease_OneHolder(t *testing.T) {
	for _, before := range someLeases() {
		for _, r := range someRequests() {
			after, err := before.Operate(&r, start)
			if err != nil {
				continue
			}
			_, errA := after.CheckWrite(rules.OnBlob, idA, start)
			_, errB := after.CheckWrite(rules.OnBlob, idB, start)
			if errA == nil && errB == nil {
				t.Errorf("after %s on %+v both may write", r.Action, before)
			}
			_, couldA := before.CheckWrite(rules.OnBlob, idA, start)
			stolen := couldA == nil && errB == nil
			if stolen && r.Action != store.LeaseChange {
				t.Errorf("%s of %s takes %+v from its holder", r.Action, r.ID, before)
			}
		}
	}
}

func someLeases() []rules.Lease {
	soon, ago := start.Add(time.Second), start.Add(-time.Second)
	return []rules.Lease{
		{},
		{ID: idA, Duration: store.MinLease, Ends: soon},
		{ID: idA, Duration: store.MinLease, Ends: ago},
		{ID: idA, Duration: store.LeaseInfinite},
		{ID: idA, Duration: store.LeaseInfinite, Breaks: soon},
		{ID: idA, Duration: store.MinLease, Ends: soon, Breaks: soon},
		{ID: idA, Duration: store.MinLease, Ends: soon, Breaks: ago},
	}
}

func someRequests() []store.LeaseRequest {
	var all []store.LeaseRequest
	for _, id := range []string{idA, idB} {
		for _, d := range []time.Duration{store.MinLease, store.LeaseInfinite} {
			all = append(all, store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: d})
		}
		for _, newID := range []string{idA, idB} {
			all = append(all, store.LeaseRequest{Action: store.LeaseChange, ID: id, NewID: newID})
		}
		all = append(all, store.LeaseRequest{Action: store.LeaseRenew, ID: id}, store.LeaseRequest{Action: store.LeaseRelease, ID: id})
	}
	for _, d := range []time.Duration{0, 2 * time.Second, store.BreakNaturally} {
		all = append(all, store.LeaseRequest{Action: store.LeaseBreak, BreakPeriod: d})
	}
	return all
}

func TestFail(t *testing.T) {
	if err := rules.Fail("get", "a", nil); err != nil {
		t.Errorf("Fail(nil) = %v, want nil", err)
	}
	refusal := rules.Refuse("BlobNotFound", "")
	err := rules.Fail("get", "a", refusal)
	if want := `get "a": blob not found (BlobNotFound)`; err.Error() != want || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Fail() = %v, want %s", err, want)
	}
	disk := errors.New("disk on fire")
	err = rules.Fail("put", "", disk)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Sentinel != nil || !errors.Is(err, disk) {
		t.Errorf("Fail() = %v, want an unknown outcome with %v", err, disk)
	}
}

func TestRefuse_EveryCodeHasASentinel(t *testing.T) {
	for _, l := range someLeases() {
		for _, kind := range []rules.Kind{rules.OnBlob, rules.OnContainer} {
			for _, id := range []string{"", idA, idB} {
				_, write := l.CheckWrite(kind, id, start)
				read := l.CheckRead(kind, id, start)
				for _, err := range []error{write, read} {
					if err != nil && store.SentinelOf(store.Code(err)) == nil {
						t.Errorf("%v has no sentinel", err)
					}
				}
			}
		}
	}
}
