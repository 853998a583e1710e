package sqlitestore_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// inPieces has all bodies that can be kept in pieces be kept so, however small.
var inPieces = storetest.Harness{
	Open: func(t testing.TB) store.Store {
		s := open(t, filepath.Join(t.TempDir(), "store.db"), nil)
		sqlitestore.KeepInPieces(s, 0)
		return storetest.InPieces(s)
	},
	FakeTime: true,
}

func TestStore_InPieces(t *testing.T) {
	t.Parallel()
	storetest.Run(t, inPieces)
}

func TestHistories_InPieces(t *testing.T) {
	storetest.RunHistories(t, inPieces, storetest.Rounds(20, 1000))
}

// largePieces are pieces of a body that is kept in pieces, in a small one and 15 large.
func largePieces(version string) []string {
	pieces := []string{"head " + version}
	for i := range 15 {
		pieces = append(pieces, fmt.Sprintf("<!-- %d %s -->\n", i, version)+lines(26_000))
	}
	return pieces
}

func putPieces(t testing.TB, s store.Store, name string, pieces []string, had *store.Body) *store.Body {
	t.Helper()
	_, body, err := store.PutPieces(t.Context(), s, name, pieces, had, nil)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func getPieces(t testing.TB, s store.Store, name string, had *store.Body) *store.Body {
	t.Helper()
	_, body, err := store.GetPieces(t.Context(), s, name, had, nil)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// wantPieces reads a body in both ways.
func wantPieces(t *testing.T, s store.Store, name string, pieces []string, had *store.Body) *store.Body {
	t.Helper()
	want := strings.Join(pieces, "")
	if got := body(t, s, name); got != want {
		t.Fatalf("Get(%q) = %d bytes, want the %d that were put", name, len(got), len(want))
	}
	got := getPieces(t, s, name, had)
	if string(got.Bytes()) != want {
		t.Fatalf("GetPieces(%q) = %d bytes, want the %d that were put", name, got.Size(), len(want))
	}
	return got
}

func TestStore_PiecesOfAllKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	for _, test := range []struct {
		name   string
		pieces []string
		codec  int
	}{
		{"none", nil, 0},
		{"small", []string{"x", "", "y"}, 0},
		{"below the threshold", []string{lines(320<<10 - 1)}, 1},
		{"at the threshold", []string{lines(320 << 10)}, 2},
		{"noise", []string{noise(200_000), "between", noise(200_000)}, 2},
		{"one large piece", []string{"", lines(8 << 20), ""}, 2},
		{"a piece over and over", slices.Repeat([]string{lines(20_000)}, 50), 2},
		{"many small pieces", slices.Repeat([]string{lines(500)}, 2000), 1},
		{"many small pieces and a large one", append(slices.Repeat([]string{"x"}, 100_000), lines(400_000)), 1},
		{"empty pieces without end", append(make([]string, 1_000_000), lines(400_000)), 1},
	} {
		body := putPieces(t, s, test.name, test.pieces, nil)
		wantPieces(t, s, test.name, test.pieces, nil)
		wantPieces(t, s, test.name, test.pieces, body)
		if _, codec := storedSize(t, path, test.name); codec != test.codec || (body.Keys != nil) != (codec == 2) {
			t.Errorf("%s is stored by method %d with %d keys, want method %d", test.name, codec, len(body.Keys), test.codec)
		}
	}
	sqlitestore.CheckPieces(t, s)
}

// TestStore_PiecesCostWhatHasChanged looks at the keys and at the log.
func TestStore_PiecesCostWhatHasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	pieces := []string{"head"}
	for i := range 160 {
		pieces = append(pieces, noise(26_000-i))
	}
	first := putPieces(t, s, "a", pieces, nil)
	sqlitestore.ExecOnWriter(t, s, "PRAGMA wal_checkpoint(TRUNCATE)")
	for _, i := range []int{3, 70, 71, 120} {
		pieces[i] = noise(26_001 + i)
	}
	second := putPieces(t, s, "a", pieces, first)
	changed := 0
	for i, key := range second.Keys {
		if key != first.Keys[i] {
			changed++
		}
	}
	if changed != 4 {
		t.Errorf("%d pieces have got another key, want the 4 that have changed", changed)
	}
	if log := len(content(t, path+"-wal")); log > 600_000 {
		t.Errorf("4 of 160 pieces of 26 kB took %d bytes of log", log)
	}
	wantPieces(t, s, "a", pieces, first)
}

// TestStore_PiecesThroughAHistory does what comes to mind with two stores on a file.
func TestStore_PiecesThroughAHistory(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "store.db")
	stores := []*sqlitestore.Store{create(t, path), open(t, path, nil)}
	want := map[string][]string{}
	var known []*store.Body
	anyKnown := func() *store.Body {
		if len(known) == 0 || dice.IntN(4) == 0 {
			return nil
		}
		return known[max(0, len(known)-1-dice.IntN(6))]
	}
	for i := range 400 {
		s, name := stores[dice.IntN(2)], fmt.Sprint(dice.IntN(3))
		sqlitestore.KeepInPieces(s, []int{0, 100_000}[dice.IntN(2)])
		pieces := slices.Clone(want[name])
		for range dice.IntN(4) {
			if n := dice.IntN(12); n < len(pieces) {
				pieces[n] = noise(dice.IntN(3000)) + fmt.Sprint(i)
			} else {
				pieces = append(pieces, strings.Repeat(fmt.Sprintln(i), dice.IntN(8000)))
			}
		}
		switch dice.IntN(10) {
		case 0:
			put(t, s, name, strings.Join(pieces, ""))
			want[name] = pieces
		case 1:
			if err := s.Delete(t.Context(), name, nil); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			delete(want, name)
		case 2:
			if dice.IntN(5) == 0 {
				if err := errors.Join(s.Delete(t.Context(), "", nil), s.Create(t.Context())); err != nil {
					t.Fatal(err)
				}
				clear(want)
			}
		default:
			known = append(known, putPieces(t, s, name, pieces, anyKnown()))
			want[name] = pieces
		}
		for name, pieces := range want {
			known = append(known, wantPieces(t, stores[dice.IntN(2)], name, pieces, anyKnown()))
		}
		sqlitestore.CheckPieces(t, s)
	}
}

// TestStore_PiecesOfAnotherFile hands in bodies with the same keys, of the same sizes.
func TestStore_PiecesOfAnotherFile(t *testing.T) {
	mine, theirs := create(t, filepath.Join(t.TempDir(), "store.db")), create(t, filepath.Join(t.TempDir(), "store.db"))
	ours, others := largePieces("1"), largePieces("2")
	putPieces(t, mine, "a", ours, nil)
	had := putPieces(t, theirs, "a", others, nil)
	wantPieces(t, mine, "a", ours, had)
	putPieces(t, mine, "a", others, had)
	wantPieces(t, mine, "a", others, had)
}

// TestStore_PieceIsKeptOnce has a body claim that one piece stands in two places.
func TestStore_PieceIsKeptOnce(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	pieces := largePieces("1")
	pieces[2] = pieces[1]
	had := putPieces(t, s, "a", pieces, nil)
	had.Keys[2] = had.Keys[1]
	had = putPieces(t, s, "a", pieces, had)
	sqlitestore.CheckPieces(t, s)
	pieces = slices.Clone(pieces)
	pieces[1] = lines(20_000)
	putPieces(t, s, "a", pieces, had)
	wantPieces(t, s, "a", pieces, nil)
	sqlitestore.CheckPieces(t, s)
}

func TestStore_MaxBodyInPieces(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"), &sqlitestore.Options{MaxBody: 400_000})
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	putPieces(t, s, "a", []string{lines(350_000), lines(50_000)}, nil)
	_, _, err := s.PutPieces(t.Context(), "a", []string{lines(350_000), lines(50_001)}, nil, nil)
	if !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("PutPieces() of one byte too many = %v, want %v", err, store.ErrTooLarge)
	}
}

// TestStore_FullDisk: what is known of a body before a write that fails is so after it.
func TestStore_FullDisk(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	pieces := largePieces("1")
	had := putPieces(t, s, "a", pieces, nil)
	sqlitestore.ExecOnWriter(t, s, "PRAGMA max_page_count = 40")
	larger := append(largePieces("2"), noise(2_000_000))
	_, _, err := s.PutPieces(t.Context(), "a", larger, had, nil)
	if e, ok := errors.AsType[*store.Error](err); !ok || e.Sentinel != nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("PutPieces() on a full disk = %v, want an error of unknown outcome and what to do", err)
	}
	wantPieces(t, s, "a", pieces, had)
	sqlitestore.CheckPieces(t, s)
	sqlitestore.ExecOnWriter(t, s, "PRAGMA max_page_count = 1000000")
	putPieces(t, s, "b", largePieces("3"), nil) // under the keys that were taken back
	putPieces(t, s, "a", larger, had)
	wantPieces(t, s, "a", larger, had)
	sqlitestore.CheckPieces(t, s)
}

// TestStore_ReadAmongWriters: whoever reads a list whose pieces are gone by then reads
// both once more, as of one moment, however fast others write.
func TestStore_ReadAmongWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, writer := create(t, path), open(t, path, nil)
	putPieces(t, writer, "a", largePieces("0"), nil)
	writes := 0
	body, err := sqlitestore.GetWhile(t.Context(), s, "a", func() {
		writes++
		putPieces(t, writer, "a", largePieces(fmt.Sprint(writes)), nil)
	})
	if err != nil || string(body.Bytes()) != strings.Join(largePieces("1"), "") || writes != 2 {
		t.Errorf("GetPieces() with %d writes meanwhile = %v, want the body after the first", writes, err)
	}
	wantPieces(t, s, "a", largePieces("2"), nil)
}

// TestStore_DamagedPieces damages the list of one blob, or a piece of it.
func TestStore_DamagedPieces(t *testing.T) {
	const list, piece = "UPDATE stored SET %s WHERE id = (SELECT id FROM blob WHERE name = 'streams/a.xml')",
		"UPDATE piece SET %s WHERE key = (SELECT min(key) + 3 FROM piece)"
	for name, damage := range map[string]string{
		"list cut":              fmt.Sprintf(list, "content = CAST(substr(content, 1, length(content) - 1) AS BLOB)"),
		"list cut to nothing":   fmt.Sprintf(list, "content = x''"),
		"list longer":           fmt.Sprintf(list, "content = CAST(content || x'00' AS BLOB)"),
		"other key":             fmt.Sprintf(list, "content = CAST(substr(content, 1, 12) || x'01' || substr(content, 14) AS BLOB)"),
		"piece missing":         "DELETE FROM piece WHERE key = (SELECT min(key) + 3 FROM piece)",
		"all pieces missing":    "DELETE FROM piece WHERE blob = (SELECT id FROM blob WHERE name = 'streams/a.xml')",
		"piece cut":             fmt.Sprintf(piece, "content = CAST(substr(content, 1, length(content) - 1) AS BLOB)"),
		"piece cut to nothing":  fmt.Sprintf(piece, "content = x''"),
		"piece of other bytes":  fmt.Sprintf(piece, "content = CAST(substr(content, 1, 10) || x'ffffffffffffffffffff' || substr(content, 21) AS BLOB)"),
		"another piece":         fmt.Sprintf(piece, "content = (SELECT content FROM piece WHERE key = (SELECT max(key) FROM piece))"),
		"piece said to be list": fmt.Sprintf(piece, "codec = 2"),
		"plain piece too short": fmt.Sprintf(piece, "codec = 0, content = CAST('<Event/>' AS BLOB)"),
		"other size":            "UPDATE blob SET size = size + 1 WHERE name = 'streams/a.xml'",
	} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		pieces := append(largePieces("1"), lines(5000))
		putPieces(t, s, "streams/a.xml", pieces, nil)
		putPieces(t, s, "b", append(largePieces("2"), lines(6000)), nil)
		raw(t, path, damage)
		_, whole := s.Get(t.Context(), "streams/a.xml", nil)
		_, _, inPieces := s.GetPieces(t.Context(), "streams/a.xml", nil, nil)
		for _, err := range []error{whole, inPieces} {
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), `"streams/a.xml"`) || !strings.Contains(err.Error(), "from a copy") {
				t.Errorf("%s: Get() = %v, want %v with the blob's name and what to do", name, err, store.ErrDamaged)
			}
		}
		wantPieces(t, s, "b", append(largePieces("2"), lines(6000)), nil)
		putPieces(t, s, "streams/a.xml", pieces[1:], nil)
		wantPieces(t, s, "streams/a.xml", pieces[1:], nil)
		sqlitestore.CheckPieces(t, s)
		if err := s.Delete(t.Context(), "streams/a.xml", nil); err != nil {
			t.Errorf("%s: Delete() = %v", name, err)
		}
		sqlitestore.CheckPieces(t, s)
	}
}

// TestStore_OneWrongByte turns a bit in the list and in pieces of all kinds.
func TestStore_OneWrongByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	pieces := append(largePieces("1"), noise(30_000), "<Event id=\"77\" name=\""+strings.Repeat("all different ", 50)+"\"/>")
	putPieces(t, s, "a", pieces, nil)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type place struct {
		table, key string
		id         int64
		content    []byte
	}
	var places []place
	for table, key := range map[string]string{"piece": "key", "stored": "id"} {
		rows, err := db.Query("SELECT " + key + ", content FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			p := place{table: table, key: key}
			if err := rows.Scan(&p.id, &p.content); err != nil {
				t.Fatal(err)
			}
			places = append(places, p)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range places {
		set := "UPDATE " + p.table + " SET content = ? WHERE " + p.key + " = ?"
		for at := 0; at < len(p.content); at += 1 + len(p.content)/5 {
			wrong := bytes.Clone(p.content)
			wrong[at] ^= 1
			if _, err := db.Exec(set, wrong, p.id); err != nil {
				t.Fatal(err)
			}
			_, whole := s.Get(t.Context(), "a", nil)
			_, _, inPieces := s.GetPieces(t.Context(), "a", nil, nil)
			if !errors.Is(whole, store.ErrDamaged) || !errors.Is(inPieces, store.ErrDamaged) {
				t.Errorf("%s %d, byte %d of %d: Get() = %v, GetPieces() = %v, want %v", p.table, p.id, at, len(p.content), whole, inPieces, store.ErrDamaged)
			}
		}
		if _, err := db.Exec(set, p.content, p.id); err != nil {
			t.Fatal(err)
		}
	}
	wantPieces(t, s, "a", pieces, nil)
}

// FuzzManifest: what is read comes out again, and no text is a list of more pieces than
// it has room for.
func FuzzManifest(f *testing.F) {
	f.Add([]byte{}, int64(0))
	f.Add([]byte("\x00\x04text\x07\x80\x04"), int64(516))
	f.Add([]byte("\x00\x00\x00\x00\x01\x00"), int64(0))
	f.Add(binary.AppendUvarint([]byte{1}, 1<<63), int64(-1<<63))
	f.Add(bytes.Repeat([]byte{0xff}, 30), int64(1<<62))
	f.Fuzz(func(t *testing.T, data []byte, size int64) {
		n, same, err := sqlitestore.Entries(slices.Clip(data), size)
		if n > len(data)/2 || err == nil && !same {
			t.Errorf("%d bytes are a list of %d pieces, that comes out the same: %t", len(data), n, same)
		}
	})
}
