package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain lets this program be the contenders' processes.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == contending {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func peers(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &err)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("peers %s left %v, %v", strings.Join(args, " "), left, err)
	}
	return code, out.String(), err.String()
}

func TestJSON(t *testing.T) {
	code, out, errs := peers(t, "--n", "20", "--rounds", "2", "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var report struct {
		RatioToBest float64          `json:"ratio_to_best"`
		Rows        []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if report.RatioToBest <= 0 {
		t.Errorf("ratio_to_best = %v, want more than 0", report.RatioToBest)
	}
	var names []string
	for _, row := range report.Rows {
		names = append(names, row["name"].(string))
		if want := []string{"jobs_per_s", "n", "name", "ok", "pragmas", "rss_mb", "setting", "wall_s"}; !slices.Equal(slices.Sorted(maps.Keys(row)), want) {
			t.Errorf("row %v, want the names %q", row, want)
		}
		if row["ok"] != true || row["n"] != 20. || row["jobs_per_s"].(float64) <= 0 || !strings.Contains(row["pragmas"].(string), "synchronous=FULL") {
			t.Errorf("row %v", row)
		}
	}
	if want := []string{"leasestream", "dbos-steps", "dbos-queue", "river", "go-workflows"}; !slices.Equal(names, want) {
		t.Errorf("%q took part, want %q", names, want)
	}
}

func TestText(t *testing.T) {
	code, out, errs := peers(t, "-n", "20", "-rounds", "1", "-only", "leasestream,river")
	if code != 0 || !strings.Contains(out, "leasestream does") || !strings.Contains(out, "river") || strings.Contains(out, "dbos") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

func TestTimeout(t *testing.T) {
	code, out, errs := peers(t, "-n", "20", "-rounds", "1", "-only", "river", "-timeout", "1ms", "-format", "json")
	if code != 0 || !strings.Contains(out, `"ok":false`) || !strings.Contains(errs, "more than 1ms") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-rounds", "0"}, {"-format", "xml"}, {"more"}, {"-only", "nobody"}, {"-none"}} {
		if code, out, errs := peers(t, args...); code != 1 || out != "" || errs == "" {
			t.Errorf("peers %q: exit code %d, %q, %q; want 1 and an error", args, code, out, errs)
		}
	}
	if code, _, errs := peers(t, "-h"); code != 0 || !strings.Contains(errs, "-redis") {
		t.Errorf("peers -h: exit code %d, %q", code, errs)
	}
}

func TestConclude(t *testing.T) {
	r := &report{Rows: []*row{
		{Name: ours, rounds: []round{{JobsPerS: 10, OK: true}, {JobsPerS: 40, OK: true}, {JobsPerS: 30, OK: true}}},
		{Name: "right", rounds: []round{{JobsPerS: 5, OK: true}}},
		{Name: "wrong", rounds: []round{{JobsPerS: 100, OK: false}, {JobsPerS: 100, OK: true}}},
	}}
	r.conclude()
	if r.RatioToBest != 6 || !r.Rows[1].OK || r.Rows[2].OK {
		t.Errorf("ratio %v, want 30/5; rows %+v, %+v", r.RatioToBest, r.Rows[1], r.Rows[2])
	}
}
