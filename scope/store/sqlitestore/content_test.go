package sqlitestore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// lines is a body that packs well.
func lines(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<Event id=\"%02d.00\" name=\"Work\" status=\"completed\"/>\n", i)
	}
	return b.String()[:size]
}

// noise is a body that does not pack.
func noise(size int) string {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

// storedSize asks SQLite for the bytes that a body takes, and how it is stored.
func storedSize(t *testing.T, path, name string) (size, codec int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query := "SELECT length(content), codec FROM stored JOIN blob USING (id) WHERE name = ?"
	if err := db.QueryRow(query, name).Scan(&size, &codec); err != nil {
		t.Fatal(err)
	}
	return size, codec
}

func TestStore_BodiesArePacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	for _, test := range []struct {
		name   string
		body   string
		packed bool
	}{
		{"empty", "", false},
		{"one byte", "x", false},
		{"below the threshold", lines(2<<10 - 1), false},
		{"at the threshold", lines(2 << 10), true},
		{"document", lines(300_000), true},
		{"noise", noise(300_000), false},
		{"one byte over and over", strings.Repeat("x", 5_000_000), true},
		{"large text", lines(64 << 20), true},
		{"large noise", noise(8 << 20), false},
	} {
		put(t, s, test.name, test.body)
		object, err := s.Get(t.Context(), test.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(object.Body) != test.body || object.Size != int64(len(test.body)) {
			t.Errorf("%s: Get() = %d bytes and says %d, want the %d that were put", test.name, len(object.Body), object.Size, len(test.body))
		}
		size, codec := storedSize(t, path, test.name)
		if packed := codec == 1 && size < len(test.body); packed != test.packed || !packed && size != len(test.body) {
			t.Errorf("%s: %d bytes are stored as %d by method %d, want packed = %t", test.name, len(test.body), size, codec, test.packed)
		}
	}
	for info, err := range s.List(t.Context(), "large text") {
		if err != nil || info.Size != 64<<20 {
			t.Errorf("List() = %+v, %v, want the size of the body, %d", info, err, 64<<20)
		}
	}
}

// TestStore_OverwriteAcrossMethods puts bodies of all kinds over each other.
func TestStore_OverwriteAcrossMethods(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	for i, b := range []string{"", lines(50_000), noise(50_000), "short", lines(3000), "", noise(3000), lines(60_000), lines(50_000)} {
		put(t, s, "a", b)
		if got := body(t, s, "a"); got != b {
			t.Errorf("Get() after Put() no. %d = %d bytes, want %d", i, len(got), len(b))
		}
	}
}

func TestStore_MaxBodyIsOfTheBody(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"), &sqlitestore.Options{MaxBody: 10_000})
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", lines(10_000))
	if _, err := s.Put(t.Context(), "a", []byte(lines(10_001)), nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("Put() of a body over the limit that packs below = %v, want %v", err, store.ErrTooLarge)
	}
}

func TestStore_DamagedBody(t *testing.T) {
	for name, damage := range map[string]string{
		"cut":                 "content = CAST(substr(content, 1, length(content) - 1) AS BLOB)",
		"cut to nothing":      "content = x''",
		"longer":              "content = CAST(content || x'00' AS BLOB)",
		"other length":        "content = CAST(x'05' || substr(content, 2) AS BLOB)",
		"length of 4 GiB":     "content = CAST(x'ffffffff0f' || substr(content, 3) AS BLOB)",
		"other bytes":         "content = CAST(substr(content, 1, 10) || x'ffffffffffffffffffff' || substr(content, 21) AS BLOB)",
		"said to be plain":    "codec = 0",
		"unknown method":      "codec = 7",
		"other text":          "content = CAST('<EventStream/>' AS BLOB)",
		"plain and too short": "codec = 0, content = CAST('<EventStream/>' AS BLOB)",
	} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		put(t, s, "streams/a.xml", lines(50_000))
		put(t, s, "b", lines(50_000))
		raw(t, path, "UPDATE stored SET "+damage+" WHERE id = (SELECT id FROM blob WHERE name = 'streams/a.xml')")
		_, err := s.Get(t.Context(), "streams/a.xml", nil)
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), `"streams/a.xml"`) || !strings.Contains(err.Error(), "from a copy") {
			t.Errorf("%s: Get() = %v, want %v with the blob's name and what to do", name, err, store.ErrDamaged)
		}
		if info, err := s.Stat(t.Context(), "streams/a.xml", nil); err != nil || info.Size != 50_000 {
			t.Errorf("%s: Stat() = %+v, %v, want the record", name, info, err)
		}
		if got := body(t, s, "b"); got != lines(50_000) {
			t.Errorf("%s: the damage spread to another blob", name)
		}
		put(t, s, "streams/a.xml", "new")
		if got := body(t, s, "streams/a.xml"); got != "new" {
			t.Errorf("%s: Get() after another Put() = %q, want new", name, got)
		}
	}
}

// FuzzStore_Bodies puts what comes, three times over, so that it may be packed.
func FuzzStore_Bodies(f *testing.F) {
	for _, seed := range []string{"", "x", lines(700), noise(700), lines(30_000)} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "store.db")
	s := create(f, path)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Repeat(b, 3)
		put(t, s, "a", string(b))
		if got := body(t, s, "a"); got != string(b) {
			t.Errorf("Get() = %d bytes, want the %d that were put", len(got), len(b))
		}
	})
}
