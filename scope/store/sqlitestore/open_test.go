package sqlitestore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// raw runs SQL on a file past the store.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// refuse checks that Open fails with all of the words, and changes nothing.
func refuse(t *testing.T, path string, words ...string) {
	t.Helper()
	before, entries := content(t, path), dirEntries(t, path)
	s, err := sqlitestore.Open(path, nil)
	if err == nil {
		s.Close()
		t.Fatalf("Open(%q) succeeds, want an error with %q", path, words)
	}
	for _, w := range append(words, path) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("Open(%q) = %v, want an error with %q", path, err, w)
		}
	}
	if !bytes.Equal(content(t, path), before) || dirEntries(t, path) != entries {
		t.Errorf("Open(%q) has changed the file or its directory", path)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dirEntries(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestOpen_NewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	put(t, s, "a", "kept")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "PRAGMA user_version = 7")
	refuse(t, path, "version 7", "up to 3", "newer")
	raw(t, path, "PRAGMA user_version = 3")
	if got := body(t, open(t, path, nil), "a"); got != "kept" {
		t.Errorf("Get() = %q after the version was set back, want kept", got)
	}
}

func TestOpen_ForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	raw(t, path, "CREATE TABLE theirs (x)")
	refuse(t, path, "no store of leasestream")

	marked := filepath.Join(t.TempDir(), "marked.db")
	raw(t, marked, "PRAGMA application_id = 42")
	refuse(t, marked, "no store of leasestream")
}

func TestOpen_NoDatabase(t *testing.T) {
	for name, text := range map[string]string{
		"short":   "xy",
		"xml":     "<EventStream/>\n",
		"long":    strings.Repeat("not a database\n", 1000),
		"damaged": "SQLite format 3\x00" + strings.Repeat("\xff", 5000),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refuse(t, path, "no store of leasestream")
	}
}

func TestOpen_NoPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, word := range map[string]string{
		dir:                               "is a directory",
		filepath.Join(dir, "no", "store"): "create it first",
		filepath.Join(file, "store"):      "not a directory",
	} {
		_, err := sqlitestore.Open(path, nil)
		if err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want an error with %q", path, err, word)
		}
	}
}

func TestOpen_MustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must := &sqlitestore.Options{MustExist: true}
	if _, err := sqlitestore.Open(path, must); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Open() of a missing file that must exist = %v, want %v", err, fs.ErrNotExist)
	}
	if got := dirEntries(t, path); got != "" {
		t.Errorf("Open() of a missing file that must exist made %s", got)
	}
	put(t, create(t, path), "a", "here")
	if got := body(t, open(t, path, must), "a"); got != "here" {
		t.Errorf("Get() = %q, want here", got)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitestore.Open(empty, must); err == nil || len(content(t, empty)) != 0 {
		t.Errorf("Open() of an empty file that must be a store = %v, want an error and the file left empty", err)
	}
}

func TestOpen_EmptyFileBecomesAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, create(t, path), "a", "")
}

func TestOpen_PathIsTakenAsItIs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"plain.db", "a b.db", "what?mode=memory", "50%25", "#1", "ünï.db", ":memory:", "file:x"} {
		s := create(t, name)
		put(t, s, "a", name)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Errorf("Open(%q) made no such file: %v", name, err)
		}
		if got := body(t, open(t, name, nil), "a"); got != name {
			t.Errorf("Get() from %q = %q", name, got)
		}
	}
}
