package main

import (
	"strings"
	"testing"
)

func TestModel_JSON(t *testing.T) {
	o := benchJSON(t, "model", "--events", "10,100", "--time", "1ms", "--rounds", "2")
	wantMachine(t, o, "model")
	wantPositive(t, o, "update_ratio")
	figures := []string{"bytes", "parse_ms", "parse_mb_per_s", "parse_allocs_per_event", "kept_bytes_per_byte",
		"xmlquery_ms", "parse_ratio", "write_ms", "write_mb_per_s", "update_us", "rollback_us",
		"select_id_us", "evaluate_id_us", "select_id_ratio",
		"select_status_us", "evaluate_status_us", "select_status_ratio", "select_status_events"}
	rows := rowsOf(t, o, append(figures, "events")...)
	for i, row := range rows {
		wantPositive(t, row, figures...)
		if row["events"] != []float64{10, 100}[i] {
			t.Errorf("row %d has %v events", i, row["events"])
		}
	}
}

func TestModel_Text(t *testing.T) {
	out := bench(t, "model", "--events", "10", "--time", "1ms", "--rounds", "1")
	if !strings.Contains(out, "parse, MB/s") || !strings.Contains(out, "takes 1 times as long") {
		t.Errorf("printed\n%s", out)
	}
}
