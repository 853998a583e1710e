package storetest

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/leasestream/leasestream/scope/store"
)

// InPieces is s with all bodies written and read in pieces, cut anywhere and each time
// a little differently: what holds of Get and Put holds of them, too. A store that is
// no [store.Piecewise] is as it is.
func InPieces(s store.Store) store.Store {
	p, ok := s.(store.Piecewise)
	if !ok {
		return s
	}
	cut := &inPieces{Store: s, pieces: p, had: map[string]*store.Body{}}
	if v, ok := s.(store.Versioner); ok {
		return versionedPieces{cut, v}
	}
	return cut
}

type versionedPieces struct {
	*inPieces
	store.Versioner
}

type inPieces struct {
	store.Store
	pieces store.Piecewise

	mu  sync.Mutex
	had map[string]*store.Body // by blob, from whichever call came last
}

// Local passes on what the driver says.
func (s *inPieces) Local() bool { return store.IsLocal(s.Store) }

// Get implements [store.Store].
func (s *inPieces) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	info, body, err := s.pieces.GetPieces(ctx, name, s.known(name), c)
	if err != nil {
		return nil, err
	}
	s.keep(name, body)
	return &store.Object{Info: *info, Body: body.Bytes()}, nil
}

// Put implements [store.Store].
func (s *inPieces) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	info, written, err := s.pieces.PutPieces(ctx, name, cut(string(body)), s.known(name), o)
	if err != nil {
		return nil, err
	}
	s.keep(name, written)
	return info, nil
}

func (s *inPieces) known(name string) *store.Body {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.had[name]
}

func (s *inPieces) keep(name string, b *store.Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had[name] = b
}

// cut cuts a text in pieces, most of them where it did the last time.
func cut(text string) []string {
	const even = 1000
	dice := rand.New(rand.NewPCG(uint64(len(text)), 0))
	pieces := []string{}
	for len(text) > 0 {
		n := even
		if dice.IntN(8) == 0 {
			n = dice.IntN(2 * even)
		}
		n = min(n, len(text))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}
