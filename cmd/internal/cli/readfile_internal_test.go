package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// endless is what has no end, such as a device.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestReadFile_OverTheLimit(t *testing.T) {
	a := &app{stdin: endless{}}
	want := "read standard input: it has more than 1000 bytes, the most that is taken here"
	if got, err := a.readFile("-", 1000); err == nil || err.Error() != want {
		t.Errorf("readFile(-) = %d bytes, %v, want %s", len(got), err, want)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, make([]byte, 1001), 0o600); err != nil {
		t.Fatal(err)
	}
	want = "read " + file + ": it has more than 1000 bytes, the most that is taken here"
	if got, err := a.readFile(file, 1000); err == nil || err.Error() != want {
		t.Errorf("readFile() of 1001 bytes = %d bytes, %v, want %s", len(got), err, want)
	}
	if got, err := a.readFile(file, 1001); err != nil || !bytes.Equal(got, make([]byte, 1001)) {
		t.Errorf("readFile() of 1001 bytes = %d bytes, %v, want all", len(got), err)
	}
}
