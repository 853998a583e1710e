package eventstream_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// TestCompact_ChangesNothing drives two streams with the same edits, some of which are
// undone. One is compacted now and then, and another process reads what it writes.
func TestCompact_ChangesNothing(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		plain := start(t)
		plain.split("00", 150+r.IntN(150), nil)
		compacted, other := parse(t, string(plain.Bytes())).Stream, parse(t, string(plain.Bytes())).Stream
		for step := range uint64(60) {
			plain.now = plain.now.Add(1e9)
			var end error
			if r.IntN(4) == 0 {
				end = errWanted
			}
			for _, s := range []*eventstream.Stream{plain.Stream, compacted} {
				_, _ = s.Edit(plain.now, func() error { scribble(s, seed<<32|step); return end })
			}
			if r.IntN(3) == 0 {
				compacted.Compact()
			}
			if !bytes.Equal(compacted.Bytes(), plain.Bytes()) {
				t.Fatalf("seed %d, step %d: the document is\n%s\nwant\n%s", seed, step, compacted.Bytes(), plain.Bytes())
			}
			if r.IntN(5) == 0 {
				sameStreams(t, compacted, plain.Stream)
				other = taken(t, other, compacted)
			}
		}
	}
}

// TestCompact_InsideAnEdit: an edit that fails is undone, even if it has compacted what
// it changed and added.
func TestCompact_InsideAnEdit(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128} { // events
		r := start(t)
		if n > 1 {
			r.split("00", n-1, nil)
		}
		for i, f := range []func() error{
			func() error { return r.Update(r.At(n-1), "by", "alice") },
			func() error { _, err := r.Next(r.At(n-1), eventstream.NewEvent{Name: "N"}); return err },
		} {
			want := string(r.Bytes())
			_, err := r.Edit(r.now, func() error {
				if err := f(); err != nil {
					return err
				}
				r.Compact()
				return errWanted
			})
			if !errors.Is(err, errWanted) {
				t.Fatal(err)
			}
			if got := string(r.Bytes()); got != want {
				t.Errorf("%d events, edit %d: after it was undone the document is\n%s\nwant\n%s", n, i, got, want)
			}
		}
	}
}

// taken is a stream of another process, as of what s has written.
func taken(t *testing.T, other, s *eventstream.Stream) *eventstream.Stream {
	t.Helper()
	other, err := other.Reload(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, string(s.Bytes())).Stream
	sameStreams(t, other, want)
	other.Compact()
	sameStreams(t, other, want)
	return other
}

// TestPieces_StandStill: what was the document stays as it was.
func TestPieces_StandStill(t *testing.T) {
	r := start(t)
	r.split("00", 200, nil)
	for i, compact := range []bool{false, true} {
		if compact {
			r.Compact()
		}
		want, pieces := r.Bytes(), r.Pieces()
		for k := range 200 {
			if _, err := r.Edit(r.now, func() error { return r.Update(r.At(1+k), "by", "alice") }); err != nil {
				t.Fatal(err)
			}
		}
		r.Compact()
		r.edit(func() error { _, err := r.Next(r.At(1+i), eventstream.NewEvent{Name: "N"}); return err })
		if got := strings.Join(pieces, ""); got != string(want) {
			t.Errorf("compacted: %v: Pieces() have become\n%s\nwant\n%s", compact, got, want)
		}
		if bytes.Equal(want, r.Bytes()) {
			t.Fatal("the edits changed nothing")
		}
	}
}

// TestCompact_FewPieces: a large document is few of them, and some events that change
// make few more.
func TestCompact_FewPieces(t *testing.T) {
	r := start(t)
	r.split("00", 1000, nil)
	for _, s := range []*eventstream.Stream{r.Stream, parse(t, string(r.Bytes())).Stream} {
		if s == r.Stream {
			s.Compact()
		}
		if got := len(s.Pieces()); got > 20 {
			t.Errorf("%d pieces of %d events, want at most 20", got, s.Len())
		}
	}
	r.edit(func() error { return r.Update(r.At(500), "by", "alice") })
	if got := len(r.Pieces()); got > 400 {
		t.Errorf("%d pieces after one change, want at most 400", got)
	}
	r.Compact()
	if got := len(r.Pieces()); got > 20 {
		t.Errorf("%d pieces once compacted again, want at most 20", got)
	}
}
