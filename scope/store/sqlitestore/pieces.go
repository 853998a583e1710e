package sqlitestore

import (
	"context"
	"slices"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// inPieces is from how many bytes on a body is kept in pieces, those that have no row of
// their own left out. Below, four pieces that have changed cost as much as all.
const inPieces = 320 << 10

// PutPieces implements [store.Piecewise]. A body that is small is kept whole.
func (s *Store) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	body := &store.Body{Pieces: slices.Clone(pieces)}
	size := int64(body.Size())
	o, err := rules.NormalizePut(name, size, o, s.maxBody)
	if err != nil {
		return nil, nil, fail("put", name, err)
	}
	var info *store.Info
	if s.keepsInPieces(body) {
		d := s.draft(body, had)
		info, err = s.put(ctx, name, size, d, o)
		body.Keys = s.givenOut(d.pieces)
	} else {
		err = s.packer.withPieces(body, func(stored content) (err error) {
			info, err = s.put(ctx, name, size, &draft{whole: stored}, o)
			return err
		})
	}
	if err != nil {
		return nil, nil, fail("put", name, err)
	}
	return info, body, nil
}

// keepsInPieces tells whether a body is worth it. One of very many small pieces is not,
// whatever its size: the list of them might become larger than the body.
func (s *Store) keepsInPieces(b *store.Body) bool {
	const perPiece = 12 // bytes that a list takes at most for a key and a size
	rows, list := 0, 0
	for _, piece := range b.Pieces {
		list += perPiece
		if len(piece) < minRow {
			list += len(piece)
		} else {
			rows += len(piece)
		}
	}
	return rows >= s.inPieces && list <= rows/2
}

// The keys that are given out are those of the rows, shifted by a number that each Store
// draws: those of a Store on another file, where they are the names of other pieces, are
// not taken for its own.

func (s *Store) givenOut(m manifest) []int64 {
	keys := m.keys()
	for i := range keys {
		if keys[i] != 0 {
			keys[i] += s.keyShift
		}
	}
	return keys
}

// knownKeys are the keys of the rows of a body that was given out; nil for one that was
// not.
func (s *Store) knownKeys(had *store.Body) []int64 {
	if had == nil || len(had.Keys) != len(had.Pieces) {
		return nil
	}
	keys := slices.Clone(had.Keys)
	for i := range keys {
		if keys[i] != 0 {
			keys[i] -= s.keyShift
		}
	}
	return keys
}

// draft is a body on its way into the file: whole, or in pieces.
type draft struct {
	whole content

	packer *packer
	body   *store.Body // nil: it is whole
	stored []content   // of the pieces; no data yet for those that had promises to be stored
	had    []int64     // the keys that it promises for them, 0 for none

	pieces manifest // with keys once they are known
	kept   []bool   // for each piece of the body before: it is one of this body
	fresh  []int    // the places of pieces that get a new row
}

// draft prepares a body in pieces as far as possible outside of a transaction: those
// pieces are packed that had does not promise.
func (s *Store) draft(body, had *store.Body) *draft {
	n := len(body.Pieces)
	d := &draft{packer: &s.packer, body: body, stored: make([]content, n), had: make([]int64, n), pieces: make(manifest, n)}
	known := s.knownKeys(had)
	for i, piece := range body.Pieces {
		d.pieces[i].size = int64(len(piece))
		switch {
		case len(piece) < minRow:
			d.pieces[i].text = piece
		case i < len(known) && known[i] != 0 && had.Pieces[i] == piece:
			d.had[i] = known[i]
		default:
			d.stored[i] = d.packer.piece(piece)
		}
	}
	return d
}

// bytes is about how many the draft writes.
func (d *draft) bytes() int {
	const perEntry = 8
	n := len(d.whole.data) + perEntry*len(d.pieces)
	for i, e := range d.pieces {
		n += len(e.text) + len(d.stored[i].data)
	}
	return n
}

// plan settles which of the pieces that are stored before it are kept, and returns how
// many new keys the draft needs. A piece that was promised may be gone: had was not of
// this blob, or others have written. None is kept twice, whatever had says.
func (d *draft) plan(before manifest) (keys int) {
	d.kept, d.fresh = make([]bool, len(before)), nil
	lookup := places{keys: before.keys()}
	for i, e := range d.pieces {
		if e.size < minRow {
			continue
		}
		at := -1
		if d.had[i] != 0 {
			at = lookup.find(d.had[i], i)
		}
		if at >= 0 && !d.kept[at] && before[at].size == e.size {
			d.kept[at], d.pieces[i].key = true, d.had[i]
			continue
		}
		d.fresh = append(d.fresh, i)
	}
	return len(d.fresh)
}

// content gives the new pieces their keys, up to last, and returns what is stored for
// the body itself.
func (d *draft) content(last int64) content {
	if d.body == nil {
		return d.whole
	}
	for n, i := range d.fresh {
		d.pieces[i].key = last - int64(len(d.fresh)-1-n)
	}
	return content{listed, d.pieces.appendTo(nil)}
}

// insertPieces adds the new pieces as those of a blob.
func (d *draft) insertPieces(c *conn, id int64) error {
	for _, i := range d.fresh {
		stored := d.stored[i]
		if stored.data == nil { // it was promised
			stored = d.packer.piece(d.body.Pieces[i])
		}
		err := c.exec("INSERT INTO piece (key, blob, codec, content) VALUES (?, ?, ?, ?)", d.pieces[i].key, id, stored.codec, stored.data)
		if err != nil {
			return err
		}
	}
	return nil
}
