package pipeline_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody may ever write to a named pipe, and what was read from one is gone.
func TestItems_NamedPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantItems(t, runToEnd(t, collecting("file: pipe, format: csv", ""), dir, "null"),
		`pipeline.yaml:4:19: items of "pipe": it is no regular file`)
}
