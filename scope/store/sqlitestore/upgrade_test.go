package sqlitestore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// version1 is a file as programs of version 1 made it, with the container and
// three blobs: "old" of 50,000 bytes, "held" under an infinite lease, "empty".
var version1 = []string{
	"PRAGMA page_size = 16384",
	"PRAGMA journal_mode = WAL",
	`CREATE TABLE blob (
	id             INTEGER PRIMARY KEY,
	name           TEXT NOT NULL UNIQUE,
	etag           TEXT NOT NULL,
	size           INTEGER NOT NULL,
	content_type   TEXT NOT NULL,
	metadata       TEXT NOT NULL,
	created        INTEGER NOT NULL,
	modified       INTEGER NOT NULL,
	lease_id       TEXT NOT NULL,
	lease_duration INTEGER NOT NULL,
	lease_ends     INTEGER NOT NULL,
	lease_breaks   INTEGER NOT NULL,
	lease_holder   TEXT NOT NULL
) STRICT`,
	"CREATE TABLE body (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT",
	"CREATE TABLE counter (etags INTEGER NOT NULL) STRICT",
	"INSERT INTO counter VALUES (40)",
	`INSERT INTO blob VALUES
	(1, '', '"0x25AA"', 0, '', '{}', 1764487931000000000, 1764487931000000000, '', 0, 0, 0, ''),
	(2, 'old', '"0x26AA"', 50000, 'application/xml', '{"status":"init"}', 1764487932000000000, 1764487933000000000, '', 0, 0, 0, ''),
	(3, 'held', '"0x27AA"', 4, '', 'null', 1764487934000000000, 1764487934000000000,
		'0f8fad5b-d9cb-469f-a165-70867728950e', -1, 0, 0, '{"host":"here","pid":7}'),
	(4, 'empty', '"0x28AA"', 0, '', 'null', 1764487934000000000, 1764487934000000000, '', 0, 0, 0, '')`,
	"INSERT INTO body VALUES (2, zeroblob(50000)), (3, CAST('kept' AS BLOB)), (4, x'')",
	"PRAGMA application_id = 0x4c735374",
	"PRAGMA user_version = 1",
}

// version2 is what it became in programs of version 2.
var version2 = append(slices.Clone(version1),
	"ALTER TABLE body RENAME COLUMN data TO content",
	"ALTER TABLE body ADD COLUMN codec INTEGER NOT NULL DEFAULT 0",
	"PRAGMA user_version = 2",
)

// older are the files of older versions, with the statements by which programs of them
// read, overwrite and delete a body.
var older = []struct {
	name                string
	file                []string
	read, write, remove string
}{
	{"version 1", version1, "SELECT data FROM body WHERE id = ?",
		"UPDATE body SET data = CAST('theirs' AS BLOB) WHERE id = ?", "DELETE FROM body WHERE id = ?"},
	{"version 2", version2, "SELECT content FROM body WHERE id = ?",
		"UPDATE body SET (content, codec) = (CAST('theirs' AS BLOB), 0) WHERE id = ?", "DELETE FROM body WHERE id = ?"},
}

func oldFile(t *testing.T, statements []string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	raw(t, path, statements...)
	return path
}

func userVersion(t *testing.T, path string) (v int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOpen_OlderVersion(t *testing.T) {
	for _, v := range older {
		t.Run(v.name, func(t *testing.T) { bringUp(t, oldFile(t, v.file)) })
	}
}

func bringUp(t *testing.T, path string) {
	for range 2 {
		s := open(t, path, &sqlitestore.Options{MustExist: true})
		wantOldBlobs(t, s)
		if size, codec := storedSize(t, path, "old"); size != 50_000 || codec != 0 {
			t.Errorf("the old body is stored as %d bytes by method %d, want it as it was", size, codec)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := userVersion(t, path); got != 3 {
			t.Errorf("version = %d after Open(), want 3", got)
		}
	}
	s := open(t, path, nil)
	put(t, s, "new", lines(50_000))
	wantOldBlobs(t, s)
	info, err := s.Put(t.Context(), "old", []byte(lines(40_000)), &store.PutOptions{Conditions: store.Conditions{IfMatch: `"0x26AA"`}})
	if err != nil || !strings.HasPrefix(info.ETag, fmt.Sprintf(`"0x%X`, 42)) {
		t.Errorf("Put() over an old blob = %+v, %v, want the count of ETags to go on", info, err)
	}
	if size, codec := storedSize(t, path, "old"); size >= 40_000 || codec != 1 || body(t, s, "old") != lines(40_000) {
		t.Errorf("what was put over an old blob is stored as %d bytes by method %d", size, codec)
	}
}

func wantOldBlobs(t *testing.T, s store.Store) {
	t.Helper()
	for name, want := range map[string]string{"old": strings.Repeat("\x00", 50_000), "held": "kept", "empty": ""} {
		if got := body(t, s, name); got != want {
			t.Errorf("Get(%q) = %d bytes, want %d", name, len(got), len(want))
		}
	}
	info, err := s.Stat(t.Context(), "old", nil)
	if err != nil || info.Size != 50_000 || info.Metadata["status"] != "init" || !info.Created.Equal(time.Unix(1764487932, 0)) {
		t.Errorf("Stat() of an old blob = %+v, %v, want what was put", info, err)
	}
	if _, err := s.Put(t.Context(), "held", nil, nil); !errors.Is(err, store.ErrLeaseMissing) {
		t.Errorf("Put() over a blob leased before = %v, want %v", err, store.ErrLeaseMissing)
	}
}

// TestOpen_OlderProgramStaysInTheFile has one of an older version go on with statements
// that it prepared before the upgrade.
func TestOpen_OlderProgramStaysInTheFile(t *testing.T) {
	for _, v := range older {
		t.Run(v.name, func(t *testing.T) { stay(t, oldFile(t, v.file), v.read, v.write, v.remove) })
	}
}

func stay(t *testing.T, path, reads, writes, removes string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read, readErr := db.Prepare(reads)
	write, writeErr := db.Prepare(writes)
	remove, removeErr := db.Prepare(removes)
	if err := errors.Join(readErr, writeErr, removeErr, read.QueryRow(3).Scan(new([]byte))); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, nil)
	put(t, s, "old", lines(50_000))
	if err := read.QueryRow(2).Scan(new([]byte)); err == nil {
		t.Errorf("an older program reads stored bytes as a body")
	}
	if _, err := write.Exec(2); err == nil {
		t.Errorf("an older program writes a body that is marked as packed")
	}
	if _, err := remove.Exec(2); err == nil {
		t.Errorf("an older program deletes a body, which may have pieces")
	}
	if got := body(t, s, "old"); got != lines(50_000) {
		t.Errorf("Get() after an older program tried to write = %d bytes", len(got))
	}
}

func TestProcesses_UpgradeAtOnce(t *testing.T) {
	const processes = 50
	path := oldFile(t, version1)
	startAll(t, processes, "create", path)
	s := open(t, path, &sqlitestore.Options{MustExist: true})
	wantOldBlobs(t, s)
	if got, want := blobs(t, s), processes+3; got != want {
		t.Errorf("%d processes left %d blobs, want %d", processes, got, want)
	}
}
