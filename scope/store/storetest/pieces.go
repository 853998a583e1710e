package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/leasestream/leasestream/scope/store"
)

func piecesChecks() []check {
	return []check{
		{key: "pieces/a blob is the same however it is written and read", run: piecesAreTheBody},
		{key: "pieces/what is known is the same string", run: knownPieces},
		{key: "pieces/had is a matter of cost", run: hadOfAnything},
		{key: "pieces/refusals", run: refusedPieces},
		{key: "pieces/nothing is kept or changed", run: piecesOwnership},
		{key: "pieces/readers see one body", run: piecesAtOnce},
	}
}

// largePieces are large, so that a store that keeps small bodies whole keeps these in pieces.
func largePieces(n int, version string) []string {
	pieces := []string{"head " + version + "\n"}
	for i := range n {
		line := fmt.Sprintf("piece %d of %s, %x\n", i, version, i*7919)
		pieces = append(pieces, strings.Repeat(line, 20_000/len(line)))
	}
	return append(pieces, "", "tail\n")
}

func mustPutPieces(t *testing.T, s store.Store, name string, pieces []string, had *store.Body) *store.Body {
	t.Helper()
	info, body, err := store.PutPieces(t.Context(), s, name, pieces, had, nil)
	if err != nil {
		t.Fatalf("PutPieces(%q) = %v", name, err)
	}
	if want := strings.Join(pieces, ""); string(body.Bytes()) != want || info.Size != int64(len(want)) {
		t.Fatalf("PutPieces(%q) = a body of %d bytes and size %d, want the %d that were put", name, body.Size(), info.Size, len(want))
	}
	return body
}

func mustGetPieces(t *testing.T, s store.Store, name string, had *store.Body) (*store.Info, *store.Body) {
	t.Helper()
	info, body, err := store.GetPieces(t.Context(), s, name, had, nil)
	if err != nil {
		t.Fatalf("GetPieces(%q) = %v", name, err)
	}
	return info, body
}

// wantBody reads a blob in both ways.
func wantBody(t *testing.T, s store.Store, name, want string, had *store.Body) *store.Body {
	t.Helper()
	whole := mustGet(t, s, name)
	info, body := mustGetPieces(t, s, name, had)
	if string(whole.Body) != want || whole.Size != int64(len(want)) {
		t.Fatalf("Get(%q) = %d bytes of size %d, want the %d that were put", name, len(whole.Body), whole.Size, len(want))
	}
	if string(body.Bytes()) != want || info.Size != int64(len(want)) || info.ETag != whole.ETag {
		t.Fatalf("GetPieces(%q) = %d bytes of size %d, want the %d that were put", name, body.Size(), info.Size, len(want))
	}
	return body
}

// piecesAreTheBody writes a blob in turns whole and in pieces, that grow, shrink and
// change, and reads it in turns with all that was ever known of it.
func piecesAreTheBody(t *testing.T, s store.Store) {
	var known []*store.Body
	dice := rand.New(rand.NewPCG(1, 2))
	pieces := largePieces(40, "0")
	for i := range 60 {
		switch dice.IntN(10) {
		case 0:
			pieces = largePieces(dice.IntN(60), fmt.Sprint(i))
		case 1:
			pieces = []string{"small"}
		case 2:
			pieces = nil
		case 3:
			pieces = append(pieces, largePieces(3, fmt.Sprint(i))...)
		default:
			pieces = slices.Clone(pieces)
			for range min(3, len(pieces)) {
				pieces[dice.IntN(len(pieces))] = strings.Repeat(fmt.Sprintf("changed %d,%d ", i, dice.IntN(3)), dice.IntN(3000))
			}
		}
		want := strings.Join(pieces, "")
		had := anyOf(dice, known)
		if dice.IntN(5) == 0 {
			mustPut(t, s, "a", want, nil)
		} else {
			known = append(known, mustPutPieces(t, s, "a", pieces, had))
		}
		known = append(known, wantBody(t, s, "a", want, anyOf(dice, known)))
		if dice.IntN(10) == 0 {
			if err := s.Delete(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// anyOf is one of the bodies, mostly the last, or none.
func anyOf(dice *rand.Rand, known []*store.Body) *store.Body {
	switch n := dice.IntN(4); {
	case len(known) == 0 || n == 0:
		return nil
	case n == 1:
		return known[dice.IntN(len(known))]
	}
	return known[len(known)-1]
}

// knownPieces wants of a store that keeps pieces that it does.
func knownPieces(t *testing.T, s store.Store) {
	if _, ok := s.(store.Piecewise); !ok {
		return
	}
	pieces := largePieces(40, "1")
	first := mustPutPieces(t, s, "a", pieces, nil)
	changed := slices.Clone(pieces)
	changed[7] = strings.Repeat("other text\n", 2000)
	mustPutPieces(t, s, "a", changed, first)
	_, body := mustGetPieces(t, s, "a", first)
	if len(body.Pieces) != len(pieces) {
		t.Fatalf("GetPieces() = %d pieces, want the %d that were put", len(body.Pieces), len(pieces))
	}
	for i, piece := range body.Pieces {
		if len(piece) > 1000 && i != 7 && unsafe.StringData(piece) != unsafe.StringData(first.Pieces[i]) {
			t.Errorf("piece %d was known, and was read again", i)
		}
	}
	if _, again := mustGetPieces(t, s, "a", body); unsafe.StringData(again.Pieces[7]) != unsafe.StringData(body.Pieces[7]) {
		t.Errorf("piece 7 was read, and was read again")
	}
}

// hadOfAnything hands in bodies that are none of the blob's.
func hadOfAnything(t *testing.T, s store.Store) {
	pieces := largePieces(40, "1")
	mine := mustPutPieces(t, s, "a", pieces, nil)
	others := mustPutPieces(t, s, "b", largePieces(40, "2"), nil)
	for i, had := range []*store.Body{nil, {}, others, mine, {Pieces: mine.Pieces}, {Keys: others.Keys}} {
		name := fmt.Sprint("c", i)
		mustPutPieces(t, s, name, pieces, had) // that does not exist yet
		wantBody(t, s, name, strings.Join(pieces, ""), had)
		wantBody(t, s, name, strings.Join(pieces, ""), nil)
		wantBody(t, s, "a", strings.Join(pieces, ""), mine)
		wantBody(t, s, "b", strings.Join(largePieces(40, "2"), ""), others)
	}
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		wantBody(t, s, fmt.Sprint("c", i), strings.Join(pieces, ""), nil)
	}
	mustPutPieces(t, s, "a", pieces, mine) // what it had is gone
	wantBody(t, s, "a", strings.Join(pieces, ""), nil)
}

func refusedPieces(t *testing.T, s store.Store) {
	before := mustPutPieces(t, s, "a", largePieces(40, "1"), nil)
	o := &store.PutOptions{Conditions: store.Conditions{IfMatch: `"other"`}}
	_, _, err := store.PutPieces(t.Context(), s, "a", largePieces(40, "2"), before, o)
	if !errors.Is(err, store.ErrConditionNotMet) {
		t.Errorf("PutPieces() on another ETag = %v, want ErrConditionNotMet", err)
	}
	if _, _, err := store.GetPieces(t.Context(), s, "b", nil, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("GetPieces() of no blob = %v, want ErrNotFound", err)
	}
	wantBody(t, s, "a", string(before.Bytes()), before)
}

func piecesOwnership(t *testing.T, s store.Store) {
	pieces := largePieces(40, "1")
	want := strings.Join(pieces, "")
	body := mustPutPieces(t, s, "a", pieces, nil)
	pieces[3] = "changed by the caller"
	if string(body.Bytes()) != want {
		t.Error("the body of PutPieces() has changed with the pieces of the caller")
	}
	got := mustGet(t, s, "a")
	got.Body[100] = 'X'
	wantBody(t, s, "a", want, nil)
}

// piecesAtOnce reads while others write: what is read is one of the bodies, whole.
func piecesAtOnce(t *testing.T, s store.Store) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	versions := make([][]string, 4)
	for i := range versions {
		versions[i] = slices.Clone(largePieces(30, "same"))
		for j := i; j < 30; j += 4 {
			versions[i][1+j] = largePieces(30, fmt.Sprint(i))[1+j]
		}
	}
	mustPutPieces(t, s, "a", versions[0], nil)
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			var had *store.Body
			for i := 0; i < 30 && ctx.Err() == nil; i++ {
				_, body, err := store.PutPieces(ctx, s, "a", versions[(w+i)%4], had, nil)
				if err != nil {
					t.Errorf("PutPieces() = %v", err)
					return
				}
				had = body
			}
		})
	}
	var had *store.Body
	for range 40 {
		_, body, err := store.GetPieces(ctx, s, "a", had, nil)
		if err != nil {
			t.Fatalf("GetPieces() = %v", err)
		}
		had = body
		isVersion := func(v []string) bool { return bytes.Equal(body.Bytes(), []byte(strings.Join(v, ""))) }
		if !slices.ContainsFunc(versions, isVersion) {
			t.Fatal("GetPieces() = a mixture of two bodies")
		}
	}
	writers.Wait()
}
