package store

import (
	"context"
	"slices"
)

// Piecewise is what a store offers on top that can keep a body in pieces: to write a
// large one then costs what has changed of it, and to read it what is not known yet.
// Nothing else is different. Put and Get show a blob that was written by PutPieces as
// any other, and the other way round; conditions, errors and outcomes are theirs.
type Piecewise interface {
	// PutPieces is Put of the pieces, one behind the other. The Body returned is what
	// was written, in the same pieces.
	//
	// had is a hint, to save writing again what is stored already: as a rule the Body
	// that this store returned for the blob last. It may be nil or out of date, or be
	// that of another blob or another store; meanwhile the blob may have been written
	// in any way, or deleted. What is written are the pieces, whatever had says.
	PutPieces(ctx context.Context, name string, pieces []string, had *Body, o *PutOptions) (*Info, *Body, error)

	// GetPieces is Get. The Body has the pieces in which it was put, or has it in one, as
	// the store likes; an empty one has none, or empty ones. had is a hint as in
	// PutPieces: for a piece that had has, too, the same string is returned, so that
	// comparing the two is quick.
	GetPieces(ctx context.Context, name string, had *Body, c *Conditions) (*Info, *Body, error)
}

// Body is a body in pieces. It is shared: nobody changes it, neither store nor caller.
type Body struct {
	Pieces []string
	// Keys are for the store that returned the Body, to find exactly these pieces again:
	// one for each, 0 for one that it cannot, or none at all. Whoever changes the bytes
	// on the way, as encryption does, returns a Body without Keys, and hands the store
	// beneath no other had than one that it returned.
	Keys []int64
}

// Size is the length of the body in bytes.
func (b *Body) Size() (n int) {
	for _, piece := range b.Pieces {
		n += len(piece)
	}
	return n
}

// Bytes returns a copy of the body in one.
func (b *Body) Bytes() []byte { return b.AppendTo(make([]byte, 0, b.Size())) }

// AppendTo appends the body to dst.
func (b *Body) AppendTo(dst []byte) []byte {
	for _, piece := range b.Pieces {
		dst = append(dst, piece...)
	}
	return dst
}

// PutPieces is [Piecewise.PutPieces] on any store: one that does not keep pieces gets
// them in one.
func PutPieces(ctx context.Context, s Store, name string, pieces []string, had *Body, o *PutOptions) (*Info, *Body, error) {
	if p, ok := s.(Piecewise); ok {
		return p.PutPieces(ctx, name, pieces, had, o)
	}
	body := &Body{Pieces: slices.Clone(pieces)}
	info, err := s.Put(ctx, name, body.Bytes(), o)
	if err != nil {
		return nil, nil, err
	}
	return info, body, nil
}

// GetPieces is [Piecewise.GetPieces] on any store: one that does not keep pieces gives
// them in one.
func GetPieces(ctx context.Context, s Store, name string, had *Body, c *Conditions) (*Info, *Body, error) {
	if p, ok := s.(Piecewise); ok {
		return p.GetPieces(ctx, name, had, c)
	}
	object, err := s.Get(ctx, name, c)
	if err != nil {
		return nil, nil, err
	}
	return &object.Info, &Body{Pieces: []string{string(object.Body)}}, nil
}
