package paper_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/paper"
	"github.com/leasestream/leasestream/scope/store"
)

// measure is Measure in a bubble of its own.
func measure(t *testing.T, a paper.Azure, workers, n int) paper.Result {
	t.Helper()
	var r paper.Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = paper.Measure(t.Context(), a, workers, n); err != nil {
			t.Fatalf("Measure(%d workers, %d branches) = %v", workers, n, err)
		}
	})
	return r
}

func TestMeasure(t *testing.T) {
	const n = 300
	for _, workers := range []int{1, 3} {
		r := measure(t, paper.Assumed(), workers, n)
		// 64 at a time, of one worker or of three, take that many commits.
		waves := time.Duration(n / (64 * workers))
		if least := waves * paper.Assumed().WriteLatency; r.Wall <= least || r.Wall > time.Minute {
			t.Errorf("%d workers took %v, want more than %v, and no minute", workers, r.Wall, least)
		}
		if b := r.Bill; b.Writes < 3 || b.Others < 2 || b.Writes > n || b.Throttled != 0 {
			t.Errorf("%d workers asked for %+v", workers, b)
		}
		if cost := r.CostPerMillion(paper.Assumed()); cost <= 0 || cost > 10 {
			t.Errorf("a million jobs of %d workers cost $%v", workers, cost)
		}
	}
}

// Over the limits the run is slower and right, and what was refused is paid for.
func TestMeasure_Throttled(t *testing.T) {
	const n = 300
	a := paper.Assumed()
	a.BlobRate, a.AccountRate = 5, 15
	slow := measure(t, a, 3, n)
	if slow.Bill.Throttled == 0 || slow.Bill.Throttled >= slow.Bill.Requests() {
		t.Errorf("%+v with limits of 5 and 15 requests a second", slow.Bill)
	}
	if fast := measure(t, paper.Assumed(), 3, n); slow.Wall <= fast.Wall {
		t.Errorf("%v with low limits, %v without", slow.Wall, fast.Wall)
	}
}

func TestStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := paper.Assumed()
		account := paper.NewAccount(a)
		st := account.Connect()
		if store.IsLocal(st) {
			t.Error("the store is local")
		}
		if err := st.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := st.Put(t.Context(), "b", make([]byte, 6_000_000), nil); err != nil {
			t.Fatal(err)
		}
		if took, want := time.Since(began), 110*time.Millisecond; took != want {
			t.Errorf("a Put of 6 MB took %v, want %v", took, want)
		}
		began = time.Now()
		if _, err := st.Get(t.Context(), "none", nil); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get(none) = %v, want %v", err, store.ErrNotFound)
		}
		if took := time.Since(began); took != a.Latency {
			t.Errorf("a Get took %v, want %v", took, a.Latency)
		}
		if got, want := account.Bill(), (paper.Bill{Writes: 2, Reads: 1}); got != want {
			t.Errorf("Bill() = %+v, want %+v", got, want)
		}
	})
}

// A blob takes as many requests at once as in one second, and then no more. A read
// is repeated.
func TestStore_Throttled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := paper.Assumed()
		a.BlobRate = 2
		account := paper.NewAccount(a)
		st := account.Connect()
		if err := st.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, want := range []error{nil, nil, store.ErrThrottled} {
			if _, err := st.Put(t.Context(), "b", nil, nil); !errors.Is(err, want) {
				t.Errorf("Put %d = %v, want %v", i, err, want)
			}
		}
		if _, err := st.Stat(t.Context(), "b", nil); err != nil {
			t.Errorf("Stat = %v, want it repeated", err)
		}
		if got, want := account.Bill(), (paper.Bill{Writes: 4, Others: 2, Throttled: 2}); got != want {
			t.Errorf("Bill() = %+v, want %+v", got, want)
		}
	})
}
