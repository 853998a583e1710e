package storetest_test

import (
	"errors"
	"io"
	"maps"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// eachCall calls every method once, on the same blob, and returns the errors.
func eachCall(t *testing.T, s store.Store) map[string]error {
	ctx := t.Context()
	errs := map[string]error{"create": s.Create(ctx)}
	_, errs["put"] = s.Put(ctx, "a", nil, nil)
	_, errs["get"] = s.Get(ctx, "a", nil)
	_, errs["stat"] = s.Stat(ctx, "a", nil)
	for _, err := range s.List(ctx, "") {
		errs["list"] = errors.Join(errs["list"], err)
	}
	_, errs["acquire"] = s.Lease(ctx, "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
	_, errs["break"] = s.Lease(ctx, "a", &store.LeaseRequest{Action: store.LeaseBreak})
	errs["delete"] = s.Delete(ctx, "a", nil)
	return errs
}

func TestFaults_EveryCallInBothForms(t *testing.T) {
	reset := errors.New("connection reset")
	for op := range eachCall(t, memstore.New(nil)) {
		for _, apply := range []bool{false, true} {
			f := storetest.NewFaults(memstore.New(nil), func(c storetest.Call) (bool, error) {
				if c.Op == op {
					return apply, reset
				}
				return false, nil
			})
			err := eachCall(t, f)[op]
			e, ok := errors.AsType[*store.Error](err)
			if !errors.Is(err, reset) || !ok || e.Op != op || e.Sentinel != nil {
				t.Errorf("%s with apply %t = %v, want an unknown outcome with %v", op, apply, err, reset)
			}
		}
	}
}

func TestFaults_Apply(t *testing.T) {
	for _, apply := range []bool{false, true} {
		under := memstore.New(nil)
		if err := under.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := storetest.NewFaults(under, func(storetest.Call) (bool, error) { return apply, io.ErrUnexpectedEOF })
		if _, err := f.Put(t.Context(), "a", nil, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("Put() = %v, want %v", err, io.ErrUnexpectedEOF)
		}
		if _, err := under.Get(t.Context(), "a", nil); (err == nil) != apply {
			t.Errorf("after a fault with apply %t: Get() = %v", apply, err)
		}
	}
}

func TestFaults_HookSeesTheCall(t *testing.T) {
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	var got []storetest.Call
	f := storetest.NewFaults(memstore.New(nil), func(c storetest.Call) (bool, error) {
		got = append(got, c)
		return true, nil
	})
	f.Put(t.Context(), "a", nil, &store.PutOptions{Conditions: store.Conditions{LeaseID: id, IfMatch: `"1"`}})
	f.Lease(t.Context(), "", &store.LeaseRequest{Action: store.LeaseRenew, ID: id})
	want := []storetest.Call{
		{N: 1, Op: "put", Name: "a", Conditions: store.Conditions{LeaseID: id, IfMatch: `"1"`}, LeaseID: id},
		{N: 2, Op: "renew", LeaseID: id},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("calls = %+v, want %+v", got, want)
	}
}

func TestFaults_Counts(t *testing.T) {
	f := storetest.NewFaults(memstore.New(nil), nil)
	for op, err := range eachCall(t, f) {
		if err != nil {
			t.Errorf("%s without a hook = %v", op, err)
		}
	}
	want := map[string]int{"create": 1, "put": 1, "get": 1, "stat": 1, "list": 1, "acquire": 1, "break": 1, "delete": 1}
	if got := f.Counts(); !maps.Equal(got, want) {
		t.Errorf("Counts() = %v, want %v", got, want)
	}
	if got := f.Total(); got != len(want) {
		t.Errorf("Total() = %d, want %d", got, len(want))
	}
	if !f.Local() {
		t.Error("Local() = false over a local store")
	}
}

func TestFaults_Version(t *testing.T) {
	never := func(storetest.Call) (bool, error) { return false, io.ErrUnexpectedEOF }
	under := memstore.New(nil)
	want, err := under.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := storetest.NewFaults(under, never)
	if got, err := f.Version(t.Context()); got != want || err != nil || f.Total() != 0 {
		t.Errorf("Version() = %d, %v with %d calls; want %d as beneath, not counted", got, err, f.Total(), want)
	}
	none := storetest.NewFaults(struct{ store.Store }{under}, nil)
	if _, err := none.Version(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Version() over a store that has none = %v, want %v", err, errors.ErrUnsupported)
	}
}
