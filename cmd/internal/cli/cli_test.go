package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/cli"
)

// run runs a command line on a store of its own, with what is given as
// environment.
func run(t *testing.T, ctx context.Context, environment map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	args = append(args, "--store", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	code = cli.Run(ctx, args, strings.NewReader(""), &out, &err, func(name string) string { return environment[name] })
	return code, out.String(), err.String()
}

// runEnvironment runs a command line with what is given as environment.
func runEnvironment(t *testing.T, environment map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = cli.Run(t.Context(), args, strings.NewReader("line\n"), &out, &err, func(name string) string { return environment[name] })
	return code, out.String(), err.String()
}

func TestRun_NoArguments(t *testing.T) {
	var out, err bytes.Buffer
	code := cli.Run(t.Context(), nil, strings.NewReader(""), &out, &err, os.Getenv)
	if code != 2 || out.Len() > 0 || !strings.Contains(err.String(), "Available Commands") {
		t.Errorf("Run() = %d, %q, %q, want 2 and the help on standard error", code, out.String(), err.String())
	}
}

func TestRun_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("signal"))
	for _, args := range [][]string{
		{"blob", "put", "b"},
		{"ls"},
		{"run", writePipeline(t)},
	} {
		code, stdout, stderr := run(t, ctx, nil, args...)
		if code != 130 || stdout != "" || !strings.HasPrefix(stderr, "leasestream: interrupted: ") {
			t.Errorf("%q = %d, %q, %q, want 130 and that it was interrupted", args, code, stdout, stderr)
		}
	}
}

func TestRun_UsageBeforeInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, stderr := run(t, ctx, nil, "blob", "frob"); code != 2 {
		t.Errorf("Run() = %d, %q, want 2", code, stderr)
	}
}

func TestRun_Environment(t *testing.T) {
	for _, test := range []struct {
		environment map[string]string
		code        int
		stderr      string
	}{
		{map[string]string{"LEASESTREAM_WORKERS": "2", "LEASESTREAM_LOG_FORMAT": "json", "LEASESTREAM_HELP": "true"}, 0, ""},
		{map[string]string{"LEASESTREAM_WORKERS": "-1"}, 2, "LEASESTREAM_WORKERS in the environment"},
		{map[string]string{"LEASESTREAM_LOG_FORMAT": "xml"}, 2, "want text, json"},
		{map[string]string{"LEASESTREAM_BUS": "carrier:pigeon"}, 2, "unknown bus"},
		{map[string]string{"LEASESTREAM_SET": "novalue"}, 2, "want KEY=VALUE"},
	} {
		code, _, stderr := run(t, t.Context(), test.environment, "run", writePipeline(t))
		if code != test.code || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%v: Run() = %d, %q, want %d, %q", test.environment, code, stderr, test.code, test.stderr)
		}
	}
}

func writePipeline(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(name, []byte("name: one\nsteps:\n  - {name: Only, jq: .}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// zeros is standard input without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What a command reads whole before it begins may turn out to have no end.
func TestRun_EndlessFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 1<<40); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"config", "--config", file},
		{"serve", "--token-file", file},
		{"work", writePipeline(t), "--bus", "http://127.0.0.1:1", "--bus-token-file", file},
		{"run", writePipeline(t), "--input", "@" + file},
		{"each", "--", "echo"},
	} {
		var out, said bytes.Buffer
		args = append([]string{args[0], "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db")}, args[1:]...)
		code := cli.Run(t.Context(), args, zeros{}, &out, &said, func(string) string { return "" })
		if code == 0 || !strings.Contains(said.String(), "it has more than ") || out.Len() > 0 {
			t.Errorf("%q = %d, %q, %q, want that there is too much to read", args, code, out.String(), said.String())
		}
	}
}
