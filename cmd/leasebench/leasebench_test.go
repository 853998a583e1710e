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

// TestMain lets this program be the processes that the benchmarks start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fanout-process" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// bench runs leasebench and returns what it printed. It must leave no files.
func bench(t *testing.T, args ...string) string {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	out, err := benchError(t, args...)
	if err != nil {
		t.Fatalf("leasebench %s: %v", strings.Join(args, " "), err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("leasebench %s left %v, %v", strings.Join(args, " "), left, err)
	}
	return out
}

func benchError(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// object is JSON as it was printed.
type object = map[string]any

func benchJSON(t *testing.T, args ...string) object {
	t.Helper()
	out := bench(t, append(args, "--format", "json")...)
	var o object
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return o
}

// rowsOf are the rows of a report, which must have these names and no others.
func rowsOf(t *testing.T, o object, names ...string) []object {
	t.Helper()
	var rows []object
	for _, row := range o["rows"].([]any) {
		row := row.(object)
		slices.Sort(names)
		if got := slices.Sorted(maps.Keys(row)); !slices.Equal(got, names) {
			t.Fatalf("a row has %q, want %q", got, names)
		}
		rows = append(rows, row)
	}
	return rows
}

// wantPositive checks that the numbers of these names are more than zero.
func wantPositive(t *testing.T, o object, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := o[name].(float64); !ok || v <= 0 {
			t.Errorf("%s = %v, want a number over 0, in %v", name, o[name], o)
		}
	}
}

func wantMachine(t *testing.T, o object, bench string) {
	t.Helper()
	if o["bench"] != bench || o["rounds"] == nil {
		t.Errorf("bench, rounds = %v, %v, want %s and a number", o["bench"], o["rounds"], bench)
	}
	wantPositive(t, o["machine"].(object), "cpus", "fsync_ms")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"fanout", "--format", "yaml"},
		{"fanout", "--rounds", "0"},
		{"fanout", "--n", "0"},
		{"fanout", "--processes", "2", "--store", "mem:"},
		{"fanout", "more"},
		{"scope", "--style", "theirs"},
		{"scope", "--workers", "0"},
		{"scope", "--store", "mem:"},
		{"model", "--events", "4"},
		{"exec", "--n", "0"},
		{"unknown"},
	} {
		if out, err := benchError(t, args...); err == nil || out != "" {
			t.Errorf("leasebench %s: %v, printed %q; want an error alone", strings.Join(args, " "), err, out)
		}
	}
}
