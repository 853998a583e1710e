package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leasestream/leasestream/processor/pipeline"
)

// A worker must not wait for what is no file, and finds files behind links.
func TestDefinitions_OddFiles(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	source := "name: linked\nsteps: [{name: A, jq: .}]\n"
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600),
		os.Mkdir(filepath.Join(folder, "folder.yaml"), 0o700),
		os.Symlink("nowhere", filepath.Join(folder, "lost.yaml")),
		os.Symlink(elsewhere, filepath.Join(folder, "away.yaml")),
		os.WriteFile(filepath.Join(elsewhere, "file"), []byte(source), 0o600),
		os.Symlink(filepath.Join(elsewhere, "file"), filepath.Join(folder, "linked.yaml")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	d, err := openDefinitions(folder, pipeline.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if all := d.all(); len(all) != 1 || all[0].Name() != "linked" {
		t.Errorf("definitions = %v, want the one behind the link", all)
	}
	if n := strings.Count(log.String(), "left out"); n != 1 || !strings.Contains(log.String(), "lost.yaml") {
		t.Errorf("log = %s, want the link that leads nowhere", log.String())
	}
}
