package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestExec_JSON(t *testing.T) {
	o := benchJSON(t, "exec", "--n", "50", "--workers", "2", "--runs", "20", "--rounds", "2")
	wantMachine(t, o, "exec")
	wantPositive(t, o, "runs", "workers", "bare_us", "step_us", "ratio", "bare_runs_per_s", "step_runs_per_s")
	leak := o["leak"].(object)
	if got := slices.Sorted(maps.Keys(leak)); !slices.Equal(got, []string{"after", "before", "half", "leaks", "n"}) {
		t.Errorf("leak has %q", got)
	}
	if leak["leaks"] != false || leak["n"] != 50. {
		t.Errorf("leak = %v, want none in 50 runs", leak)
	}
}

func TestExec_Text(t *testing.T) {
	out := bench(t, "exec", "--n", "10", "--runs", "5", "--rounds", "1")
	if !strings.Contains(out, "overhead") || !strings.Contains(out, "open files") {
		t.Errorf("printed\n%s", out)
	}
}
