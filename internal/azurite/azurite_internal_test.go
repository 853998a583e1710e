package azurite

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstalled(t *testing.T) {
	for _, test := range []struct{ name, version, want string }{
		{"the pinned one", `{"version": "3.37.0"}`, ""},
		{"another", `{"version": "3.35.0"}`, "need Azurite 3.37.0, and 3.35.0 is installed"},
		{"none", "", "not installed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, filepath.Join(folder, "package.json"), `{"dependencies": {"azurite": "3.37.0"}}`)
			if test.version != "" {
				write(t, filepath.Join(folder, "node_modules", "azurite", "package.json"), test.version)
			}
			err := installed(folder)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("installed() = %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("installed() = %v, want an error with %q", err, test.want)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestListening(t *testing.T) {
	said := "is starting on 127.0.0.1:0\nAzurite Blob service successfully listens on http://127.0.0.1:46623\n"
	got, err := listening(bufio.NewReader(strings.NewReader(said)))
	if want := "http://127.0.0.1:46623"; got != want || err != nil {
		t.Errorf("listening() = %q, %v, want %q", got, err, want)
	}
	_, err = listening(bufio.NewReader(strings.NewReader("EADDRINUSE")))
	if err == nil || !strings.Contains(err.Error(), "EADDRINUSE") {
		t.Errorf("listening() of an early end = %v, want what was said", err)
	}
}
