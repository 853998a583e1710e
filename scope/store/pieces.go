package store

import (
	"context"
	"slices"
)

// Piecewise is what a store offers on top that can keep a body in pieces: to write a
// large one then costs what has changed of it, and to read it what is not known yet.
// It is a matter of cost only. A blob is the same however it was written, and however
// it is read.
type Piecewise interface {
	// PutPieces is Put of the pieces, one behind the other. had is the body as this
	// store last gave it for this blob, or nil; a piece that stands in it at the same
	// place need not be written again. Returned is the body that was written.
	PutPieces(ctx context.Context, name string, pieces []string, had *Body, o *PutOptions) (*Info, *Body, error)

	// GetPieces is Get of a body in pieces, as they were put, or in one. Those that
	// are known from had are the same strings.
	GetPieces(ctx context.Context, name string, had *Body, c *Conditions) (*Info, *Body, error)
}

// Body is a body in pieces. It is not to be changed.
type Body struct {
	Pieces []string
	// Keys are what the store calls the pieces, if it does: one for each, 0 for one
	// that has none. To others they mean nothing.
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
