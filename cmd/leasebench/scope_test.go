package main

import (
	"strings"
	"testing"
)

func TestScope_JSON(t *testing.T) {
	o := benchJSON(t, "scope", "--workers", "3", "--events", "10", "--duration", "500ms", "--rounds", "2")
	wantMachine(t, o, "scope")
	wantPositive(t, o, "ratio")
	rows := rowsOf(t, o, "style", "ok", "edits_per_s", "edits", "requests_per_edit",
		"wait_p50_ms", "wait_p95_ms", "wait_p99_ms", "wait_max_ms")
	var names []string
	for _, row := range rows {
		names = append(names, row["style"].(string))
		wantPositive(t, row, "edits_per_s", "wait_max_ms")
	}
	if got := strings.Join(names, " "); got != "article article-nowait ours" {
		t.Errorf("styles: %s", got)
	}
}

func TestScope_Text(t *testing.T) {
	out := bench(t, "scope", "--style", "ours", "--store", "mem:", "--workers", "3", "--events", "10", "--duration", "100ms", "--rounds", "1")
	if !strings.Contains(out, "edits/s") || !strings.Contains(out, "ours") || strings.Contains(out, "article") {
		t.Errorf("printed\n%s", out)
	}
}
