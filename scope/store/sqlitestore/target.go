package sqlitestore

import (
	"database/sql"
	"errors"

	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// target is what is written over or deleted: a record with the pieces of its body.
type target struct {
	record
	pieces  manifest // empty if it is stored whole
	damaged bool     // nobody knows which pieces it has
}

// blob is what the rules judge; nil if there is none.
func (t *target) blob() *rules.Blob {
	if t == nil {
		return nil
	}
	return &t.Blob
}

// findTarget is find with the pieces.
func findTarget(c *conn, name string) (*target, error) {
	var t target
	var stored content
	err := scanRecord(&t.record, func(dest ...any) error {
		return c.row("SELECT id, ifnull(codec, ?), iif(codec = ?, content, NULL), "+columns+" FROM blob LEFT JOIN stored USING (id) WHERE name = ?",
			[]any{plain, listed, name}, append([]any{&t.id, &stored.codec, &stored.data}, dest...)...)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, checkContainer(c)
	case err != nil:
		return nil, err
	case stored.codec == listed:
		t.pieces, err = parseManifest(stored.data, t.Size)
		t.damaged = err != nil
	}
	return &t, nil
}

// dropPieces deletes the pieces of a body that are not kept.
func (t *target) dropPieces(c *conn, kept []bool) error {
	if t.damaged {
		return c.exec("DELETE FROM piece WHERE blob = ?", t.id)
	}
	var keys []int64
	for i, e := range t.pieces {
		if e.key != 0 && (kept == nil || !kept[i]) {
			keys = append(keys, e.key)
		}
	}
	if keys == nil {
		return nil
	}
	return c.exec("DELETE FROM piece WHERE key IN (SELECT value FROM json_each(?))", keyList(keys))
}
