package scope_test

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// slowSend is a local store that does not answer one Put under a lease: its request is
// on its way, and reads the body for as long as it takes.
type slowSend struct {
	store.Store
	puts           int // before that one
	sends, asGiven []byte
}

func (s *slowSend) Local() bool { return true }

func (s *slowSend) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if s.puts--; s.puts == 0 {
		s.sends, s.asGiven = body, bytes.Clone(body)
		return nil, errReset
	}
	return s.Store.Put(ctx, name, body, o)
}

// A body that a request may still read is never written to.
func TestEdit_BodyUnderWayStays(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		st := &slowSend{Store: w.in, puts: 10}
		s := newScope(t, st, nil)
		edit(t, s, add("a"))
		for i := range 20 {
			edit(t, s, func(s *eventstream.Stream) error { return s.SetAttrs("n", strconv.Itoa(100+i)) })
		}
		if st.sends == nil || !bytes.Equal(st.sends, st.asGiven) {
			t.Errorf("the body under way has become %q, it was %q", st.sends, st.asGiven)
		}
	})
}

// The streams of results are their own, whatever is written after them.
func TestEdit_ResultsOutlastBodies(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newScope(nil)
		for i := range 20 {
			r := edit(t, s, add(strconv.Itoa(i)))
			want := w.get().Body
			edit(t, s, add("x"))
			if stream, err := r.Stream(); err != nil || !bytes.Equal(stream.Bytes(), want) {
				t.Fatalf("Stream() = %s, %v; want what was committed:\n%s", stream.Bytes(), err, want)
			}
		}
	})
}
