package programs_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/programs"
)

func TestMeasure(t *testing.T) {
	r, err := programs.Measure(t.Context(), 21, 4)
	if err != nil {
		t.Fatal(err)
	}
	if r.BareUS <= 0 || r.StepUS <= 0 || r.Ratio <= 0 || r.BareRunsPerS <= 0 || r.StepRunsPerS <= 0 {
		t.Errorf("a figure is missing: %+v", r)
	}
	if off := r.StepUS - r.BareUS - r.OverheadUS; off > 1 || off < -1 {
		t.Errorf("the overhead is not the difference: %+v", r)
	}
}

func TestLookForLeak(t *testing.T) {
	l, err := programs.LookForLeak(t.Context(), 200, 4)
	if err != nil {
		t.Fatal(err)
	}
	if l.Leaks || l.N != 200 {
		t.Errorf("LookForLeak() = %+v, want no leak in 200 runs", l)
	}
	if l.Before.Goroutines < 1 || runtime.GOOS == "linux" && (l.After.Threads < 1 || l.After.Files < 1) {
		t.Errorf("a figure is missing: %+v", l)
	}
}

func TestMeasure_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := programs.Measure(ctx, 5, 2); err == nil {
		t.Errorf("Measure() = %+v with a context that has ended, want an error", r)
	}
	if l, err := programs.LookForLeak(ctx, 5, 2); err == nil {
		t.Errorf("LookForLeak() = %+v with a context that has ended, want an error", l)
	}
}
