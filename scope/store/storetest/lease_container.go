package storetest

import (
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

func containerChecks() []check {
	return []check{
		{key: "container/missing", run: containerMissing, bare: true},
		{key: "container/create again", run: containerCreate, bare: true},
		{key: "container/deletion takes everything", run: containerDelete},
		{key: "container/lease guards no blob", run: containerLease},
		{key: "container/leased blobs do not guard it", run: containerOfLeased},
		{key: "container/conditions", run: containerConditions},
	}
}

// everyCall makes one call of each kind.
func everyCall(t *testing.T, s store.Store, name string) map[string]error {
	ctx := t.Context()
	errs := map[string]error{}
	_, errs["get"] = s.Get(ctx, name, nil)
	_, errs["put"] = s.Put(ctx, name, nil, nil)
	_, errs["stat"] = s.Stat(ctx, name, nil)
	_, errs["stat of the container"] = s.Stat(ctx, "", nil)
	for _, r := range []store.LeaseRequest{acquire(idA, store.MinLease), renew(idA), change(idA, idB), release(idA), breakAfter(0)} {
		_, errs[string(r.Action)] = s.Lease(ctx, name, &r)
		_, errs[string(r.Action)+" of the container"] = s.Lease(ctx, "", &r)
	}
	for _, err := range s.List(ctx, "") {
		errs["list"] = err
	}
	errs["delete"] = s.Delete(ctx, name, nil)
	errs["delete of the container"] = s.Delete(ctx, "", nil)
	return errs
}

func containerMissing(t *testing.T, s store.Store) {
	errs := everyCall(t, s, "a")
	if _, ok := errs["list"]; !ok {
		t.Error("List() without a container yields nothing, want an error")
	}
	for op, err := range errs {
		if got := code(err); got != "ContainerNotFound" {
			t.Errorf("%s = %s, want ContainerNotFound", op, got)
		}
	}
}

func containerCreate(t *testing.T, s store.Store) {
	if err := s.Create(t.Context()); err != nil {
		t.Fatalf("Create() = %v", err)
	}
	mustPut(t, s, "kept", "", nil)
	before := mustStat(t, s, "")
	if before.Name != "" || before.ETag == "" || before.LastModified.IsZero() {
		t.Errorf("Stat() of the container = %+v, want its ETag and time", before)
	}
	if err := s.Create(t.Context()); err != nil {
		t.Fatalf("Create() again = %v", err)
	}
	if after := mustStat(t, s, ""); after.ETag != before.ETag {
		t.Errorf("Create() again has made ETag %s of %s", after.ETag, before.ETag)
	}
	if got := names(t, s, ""); len(got) != 1 {
		t.Errorf("List() after Create() again = %q, want the one blob", got)
	}
}

func containerDelete(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	if err := s.Delete(t.Context(), "", nil); err != nil {
		t.Fatalf("Delete() of the container = %v", err)
	}
	for op, err := range everyCall(t, s, "a") {
		if got := code(err); got != "ContainerNotFound" && got != "ContainerBeingDeleted" {
			t.Errorf("%s = %s after the container was deleted", op, got)
		}
	}
	if !store.IsLocal(s) {
		return // a service takes its time until the name is free again
	}
	if err := s.Create(t.Context()); err != nil {
		t.Fatalf("Create() after Delete() = %v", err)
	}
	if got := names(t, s, ""); len(got) != 0 {
		t.Errorf("List() of the new container = %q, want nothing", got)
	}
}

func containerLease(t *testing.T, s store.Store) {
	if _, err := s.Lease(t.Context(), "", new(acquire(idA, store.LeaseInfinite))); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "a", "", nil)
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Errorf("Delete() of a blob in a leased container = %v", err)
	}
	if err := s.Create(t.Context()); err != nil {
		t.Errorf("Create() of a leased container = %v", err)
	}
	if got := mustStat(t, s, "").Lease.State; got != store.LeaseLeased {
		t.Errorf("after Create() of a leased container it is %s", got)
	}
}

func containerOfLeased(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	if _, err := s.Lease(t.Context(), "a", new(acquire(idA, store.LeaseInfinite))); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "", nil); err != nil {
		t.Errorf("Delete() of a container with a leased blob = %v", err)
	}
}

func containerConditions(t *testing.T, s store.Store) {
	info := mustStat(t, s, "")
	lease := acquire(idA, store.MinLease)
	for want, c := range map[string]store.Conditions{
		"UnsupportedHeader": {IfMatch: info.ETag},
		"ConditionNotMet":   {IfUnmodifiedSince: info.LastModified.AddDate(0, 0, -1)},
	} {
		lease.Conditions = c
		_, err := s.Lease(t.Context(), "", &lease)
		if got := code(err); got != want {
			t.Errorf("acquire on the container with %+v = %s, want %s", c, got, want)
		}
		if got := code(s.Delete(t.Context(), "", &c)); got != want {
			t.Errorf("delete of the container with %+v = %s, want %s", c, got, want)
		}
	}
}
