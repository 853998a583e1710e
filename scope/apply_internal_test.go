package scope

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// A document that is too large by now must still be one that can be made smaller.
func TestEdit_OfATooLargeDocument(t *testing.T) {
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := New(st, nil)
	defer s.Close()
	stream, err := eventstream.New(time.Now(), eventstream.Start{Root: eventstream.NewEvent{Name: strings.Repeat("x", 500)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), "a", stream); err != nil {
		t.Fatal(err)
	}
	s.maxBody.Store(300)
	for _, test := range []struct {
		name string
		want error
	}{
		{strings.Repeat("x", 501), store.ErrTooLarge},
		{strings.Repeat("x", 400), nil},
		{strings.Repeat("x", 450), store.ErrTooLarge},
	} {
		_, err := s.Edit(t.Context(), "a", func(s *eventstream.Stream) error {
			return s.Update(s.Root(), "name", test.name)
		})
		if !errors.Is(err, test.want) {
			t.Errorf("Edit() to a name of %d bytes = %v, want %v", len(test.name), err, test.want)
		}
	}
}
