package sqlitestore

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope/store"
)

// join returns a body of this size in one.
func (m manifest) join(c *conn, size int64) ([]byte, error) {
	joined := make([]byte, 0, size)
	starts := make([]int, len(m))
	var rows []int
	for i, e := range m {
		starts[i] = len(joined)
		if e.key != 0 {
			rows, joined = append(rows, i), joined[:len(joined)+int(e.size)]
		} else {
			joined = append(joined, e.text...)
		}
	}
	return joined, m.each(c, rows, func(i int, stored content) error {
		_, err := stored.appendTo(joined[:starts[i]], m[i].size)
		return err
	})
}

// readPieces returns a body in pieces: those that are known from had, and the others
// read.
func (s *Store) readPieces(c *conn, m manifest, had *store.Body) (*store.Body, error) {
	body := &store.Body{Pieces: make([]string, len(m)), Keys: s.givenOut(m)}
	if had == nil {
		had = &store.Body{}
	}
	known := places{keys: s.knownKeys(had)}
	var unknown []int
	for i, e := range m {
		if e.key == 0 {
			body.Pieces[i] = e.textAs(had, i)
		} else if at := known.find(e.key, i); at >= 0 && int64(len(had.Pieces[at])) == e.size {
			body.Pieces[i] = had.Pieces[at]
		} else {
			unknown = append(unknown, i)
		}
	}
	text := bufferOf(&s.packer.texts)
	defer s.packer.texts.Put(text)
	return body, m.each(c, unknown, func(i int, stored content) (err error) {
		unpacked, err := stored.appendTo((*text)[:0], m[i].size)
		if err == nil {
			*text, body.Pieces[i] = unpacked, string(unpacked)
		}
		return err
	})
}

// textAs is the text of a piece without a row: the same string as in had, if it stands
// there.
func (e entry) textAs(had *store.Body, i int) string {
	if i < len(had.Pieces) && had.Pieces[i] == e.text {
		return had.Pieces[i]
	}
	return e.text
}

// errNoPiece: a piece has no row, or not any more.
var errNoPiece = errors.New("no such piece")

// each calls f for the pieces at some places of a manifest with what is stored of them,
// which is good until f returns.
func (m manifest) each(c *conn, at []int, f func(i int, stored content) error) error {
	if len(at) == 0 {
		return nil
	}
	keys := make([]int64, len(at))
	for n, i := range at {
		keys[n] = m[i].key
	}
	found := 0
	// One statement for all, since a statement takes as long as to unpack a piece.
	query := "SELECT k.key, codec, content FROM json_each(?) AS k CROSS JOIN piece ON piece.key = k.value"
	err := c.rows(query, []any{keyList(keys)}, func(scan func(...any) error) (bool, error) {
		var n int
		var stored content
		if err := scan(&n, &stored.codec, (*sql.RawBytes)(&stored.data)); err != nil {
			return false, err
		}
		found++
		return true, f(at[n], stored)
	})
	if err == nil && found < len(at) {
		return missing(len(at) - found)
	}
	return err
}

// missing is the error of a body of which so many pieces have no row.
func missing(pieces int) error {
	return &store.Error{
		Sentinel: store.ErrDamaged,
		Detail:   fmt.Sprintf("%d pieces of it are missing: restore the file from a copy", pieces),
		Err:      errNoPiece,
	}
}
