package measure_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		if got := measure.Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedians(t *testing.T) {
	type round struct {
		OK   bool
		N    int
		A, B float64
	}
	got := measure.Medians([]round{{false, 1, 1, 30}, {false, 2, 3, 10}, {true, 3, 2, 20}})
	if want := (round{true, 3, 2, 20}); got != want {
		t.Errorf("Medians() = %+v, want %+v", got, want)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, c := range []struct {
		values []int
		p      float64
		want   int
	}{
		{nil, 0.5, 0},
		{[]int{7}, 0.99, 7},
		{[]int{1, 2}, 0.5, 1},
		{hundred, 0, 1},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
	} {
		if got := measure.Percentile(c.values, c.p); got != c.want {
			t.Errorf("Percentile(%d values, %v) = %v, want %v", len(c.values), c.p, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, 1: 1, 34567.8: 34570, 0.000123456: 0.0001235, -2.00049: -2, 1000: 1000, 999.96: 1000,
	} {
		if got := measure.Short(in); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("Short(%v) = %v, want %v", in, got, want)
		}
	}
	if got := measure.Ratio(1, 0); got != 0 {
		t.Errorf("Ratio(1, 0) = %v, want 0", got)
	}
}

var sink []byte

func TestCostOf(t *testing.T) {
	calls := 0
	c := measure.CostOf(time.Millisecond, func() {
		calls++
		sink = make([]byte, 1000)
	})
	// Others in the process may allocate, too.
	if c.Allocs < 1 || c.Allocs > 2 {
		t.Errorf("CostOf() counted %v allocations in each of %d calls, want 1", c.Allocs, calls)
	}
	if c.Time <= 0 || c.Time*time.Duration(calls) > time.Minute {
		t.Errorf("CostOf() took %v for each of %d calls", c.Time, calls)
	}
	if calls = 0; measure.CostOf(0, func() { calls++ }).Time < 0 || calls != 1 {
		t.Errorf("CostOf(0) called %d times, want once", calls)
	}
}

func TestCostsOf(t *testing.T) {
	changes, last, calls := 0, "", map[string]int{}
	call := func(name string) {
		if calls[name]++; name != last {
			changes++
		}
		last = name
	}
	f, g := measure.CostsOf(0, func() {
		call("f")
		sink = make([]byte, 1000)
	}, func() {
		call("g")
		sink = make([]byte, 1_000_000)
		sink = make([]byte, 1_000_000)
	})
	if changes != 6 || calls["g"] != 3 || calls["f"] < 3 {
		t.Errorf("CostsOf() made %v calls and changed %d times, want one call of g in each of three turns", calls, changes)
	}
	// Others in the process may allocate, too.
	if f.Allocs < 1 || f.Allocs > 2 || g.Allocs < 2 || g.Allocs > 10 || f.Time <= 0 || g.Time <= f.Time {
		t.Errorf("CostsOf() = %v, %v, want one allocation in f and two in g, which take longer", f, g)
	}
}

func TestKept(t *testing.T) {
	kept := measure.Kept(func() any { return make([]byte, 10_000_000) })
	if kept < 9_900_000 || kept > 11_000_000 {
		t.Errorf("Kept() = %d for 10,000,000 bytes", kept)
	}
}

func TestThisMachine(t *testing.T) {
	m, err := measure.ThisMachine(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if m.OS != runtime.GOOS || m.CPUs < 1 || m.FsyncMS <= 0 {
		t.Errorf("ThisMachine() = %+v", m)
	}
	if _, err := measure.ThisMachine(t.TempDir() + "/none"); err == nil {
		t.Error("ThisMachine() of a folder that is not there: no error")
	}
}

func TestUsed(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	before := measure.Used()
	for range 10 {
		go func() { <-stop }()
	}
	if grown := measure.Used().Goroutines - before.Goroutines; grown != 10 {
		t.Errorf("10 goroutines more are seen as %d", grown)
	}
	if runtime.GOOS == "linux" && (before.Threads < 1 || before.Files < 3 || measure.PeakMemory() < 1e6) {
		t.Errorf("Used() = %+v with a peak of %d bytes", before, measure.PeakMemory())
	}
}
