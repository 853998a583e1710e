package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFanout_JSON(t *testing.T) {
	o := benchJSON(t, "fanout", "--n", "50", "--workers", "4", "--processes", "1,2", "--rounds", "2")
	wantMachine(t, o, "fanout")
	rows := rowsOf(t, o, "n", "workers", "processes", "ok", "wall_s", "jobs_per_s",
		"requests_per_job", "written_bytes_per_job", "read_bytes_per_job",
		"edits", "commits", "edits_per_commit", "join_ms", "peak_mb",
		"busiest_jobs", "idlest_jobs", "longest_wait_ms", "ceiling_s", "ceiling_jobs_per_s", "share_of_ceiling")
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	for i, row := range rows {
		if row["ok"] != true || row["n"] != 50. || row["workers"] != 4. || row["processes"] != float64(i+1) {
			t.Errorf("row %d is %v", i, row)
		}
		wantPositive(t, row, "wall_s", "jobs_per_s", "requests_per_job", "written_bytes_per_job",
			"edits", "commits", "edits_per_commit", "join_ms", "busiest_jobs", "longest_wait_ms", "share_of_ceiling")
	}
}

func TestFanout_Text(t *testing.T) {
	dir, profiles := t.TempDir(), t.TempDir()
	out := bench(t, "fanout", "--n", "50", "--workers", "4", "--rounds", "2",
		"--store", "sqlite:"+filepath.Join(dir, "bench.db"), "--cpuprofiles", profiles)
	for _, want := range []string{"fsync", "store: sqlite:", "jobs/s", "1x4"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if files, err := os.ReadDir(profiles); err != nil || len(files) != 2 {
		t.Errorf("profiles of 2 processes: %v, %v", files, err)
	}
}
