// Package codestats tests the sample: it builds the command and runs what the
// README says.
package codestats

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

type stats struct {
	Files, Lines, Bytes int
}

var leasestream string // the command, built once

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "codestats")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	leasestream = filepath.Join(dir, "leasestream")
	build := exec.Command("go", "build", "-o", leasestream, "../../cmd/leasestream")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		log.Fatal(err)
	}
	return m.Run()
}

func TestRun_CountsThisRepository(t *testing.T) {
	check(t, runSample(t), count(t, filepath.Join("..", "..")))
}

func TestRun_CountsAnyFolder(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src", "encoding")
	check(t, runSample(t, "--set", "root="+dir), count(t, dir))
}

func TestRun_FolderWithoutGoFiles(t *testing.T) {
	check(t, runSample(t, "--set", "root="+t.TempDir()), stats{})
}

func TestRun_NoSuchFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	cmd := command(t, "--set", "root="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil || len(out) > 0 || !strings.Contains(stderr.String(), dir) {
		t.Errorf("run = %v, printed %q and on stderr %q; want a failure that names the folder", err, out, &stderr)
	}
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	store := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
	args = append([]string{"run", "samples/codestats/pipeline.yaml", "--store", store}, args...)
	cmd := exec.CommandContext(t.Context(), leasestream, args...)
	cmd.Dir = filepath.Join("..", "..")
	return cmd
}

func runSample(t *testing.T, args ...string) stats {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(out, []byte("\n")) != 1 {
		t.Errorf("run printed %q, want one line", out)
	}
	var got stats
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("run printed %q: %v", out, err)
	}
	return got
}

func check(t *testing.T, got, want stats) {
	t.Helper()
	if got != want {
		t.Errorf("the sample counted %+v, want %+v", got, want)
	}
}

// count does the same in one process.
func count(t *testing.T, dir string) stats {
	t.Helper()
	var s stats
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.Files++
		s.Lines += bytes.Count(data, []byte("\n"))
		s.Bytes += len(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
