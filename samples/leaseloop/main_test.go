package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

const (
	processes = 4
	rounds    = 10
)

func TestMain(m *testing.M) {
	if os.Getenv("LEASELOOP_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestNoTwoHoldAtOnce(t *testing.T) {
	dir := t.TempDir()
	// All processes append to one file, so that its lines stand in the order in
	// which things happened.
	out, err := os.OpenFile(filepath.Join(dir, "out"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	runTogether(t, out, "-store", filepath.Join(dir, "store.db"), "-rounds", "10", "-hold", "5ms", "-pause", "5ms")

	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(?:hold ([0-9a-f-]{36}) polls=\d+ wait=\d.*|free ([0-9a-f-]{36}))$`)
	held, holds := "", 0
	for l := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		m := line.FindSubmatch(l)
		switch {
		case m == nil:
			t.Fatalf("unexpected line %q", l)
		case len(m[1]) > 0 && held != "":
			t.Fatalf("%s was taken while %s was held", m[1], held)
		case len(m[1]) > 0:
			held = string(m[1])
			holds++
		case string(m[2]) != held:
			t.Fatalf("%s was given back while %q was held", m[2], held)
		default:
			held = ""
		}
	}
	if holds != processes*rounds {
		t.Errorf("the lease was held %d times, want %d", holds, processes*rounds)
	}
}

func runTogether(t *testing.T, out *os.File, args ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var commands []*exec.Cmd
	for range processes {
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Env = append(os.Environ(), "LEASELOOP_MAIN=1")
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, cmd)
	}
	for _, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
