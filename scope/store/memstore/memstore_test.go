package memstore_test

import (
	"errors"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

var harness = storetest.Harness{
	Open:     func(testing.TB) store.Store { return memstore.New(nil) },
	FakeTime: true,
}

func TestStore(t *testing.T) { storetest.Run(t, harness) }

func TestStore_InPieces(t *testing.T) {
	h := harness
	h.Open = func(t testing.TB) store.Store { return storetest.InPieces(harness.Open(t)) }
	storetest.Run(t, h)
}

func TestStore_MaxBody(t *testing.T) {
	s := memstore.New(&memstore.Options{MaxBody: 3})
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "a", []byte("abc"), nil); err != nil {
		t.Errorf("Put() of MaxBody bytes = %v", err)
	}
	_, err := s.Put(t.Context(), "a", []byte("abcd"), nil)
	if !errors.Is(err, store.ErrTooLarge) || store.Code(err) != "RequestBodyTooLarge" {
		t.Errorf("Put() over MaxBody = %v, want %v", err, store.ErrTooLarge)
	}
}

func BenchmarkStore(b *testing.B) { storetest.RunBenchmarks(b, harness) }
