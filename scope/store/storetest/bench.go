package storetest

import (
	"fmt"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

// RunBenchmarks measures what a LeaseScope is made of, on one store. The bodies
// are as large as a document of 40 and of 1,000 events.
func RunBenchmarks(b *testing.B, h Harness) {
	for _, size := range []int{10_000, 250_000} {
		kb := fmt.Sprintf("%dKB", size/1000)
		body := make([]byte, size)
		b.Run("Get/"+kb, func(b *testing.B) { benchGet(b, openBench(b, h), body) })
		b.Run("Put/"+kb, func(b *testing.B) { benchPut(b, openBench(b, h), body) })
		b.Run("Scope/"+kb, func(b *testing.B) { benchScope(b, openBench(b, h), body) })
	}
	b.Run("Stat", func(b *testing.B) { benchStat(b, openBench(b, h)) })
	b.Run("AcquireRelease", func(b *testing.B) { benchLease(b, openBench(b, h)) })
	b.Run("List/1000", func(b *testing.B) { benchList(b, openBench(b, h), 1000) })
}

// openBench returns a store with the blob "a".
func openBench(b *testing.B, h Harness) store.Store {
	s := open(b, h)
	if _, err := s.Put(b.Context(), "a", nil, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

func benchGet(b *testing.B, s store.Store, body []byte) {
	if _, err := s.Put(b.Context(), "a", body, nil); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := s.Get(b.Context(), "a", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// vary changes a few bytes in the middle, as an edit does.
func vary(body []byte, n int) {
	copy(body[len(body)/2:], fmt.Sprintf("%020d", n))
}

func benchPut(b *testing.B, s store.Store, body []byte) {
	b.SetBytes(int64(len(body)))
	for n := 0; b.Loop(); n++ {
		vary(body, n)
		if _, err := s.Put(b.Context(), "a", body, &store.PutOptions{Metadata: streamMetadata}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchScope acquires, reads, writes and releases.
func benchScope(b *testing.B, s store.Store, body []byte) {
	ctx := b.Context()
	o := &store.PutOptions{Metadata: streamMetadata, Conditions: store.Conditions{LeaseID: idA}}
	for n := 0; b.Loop(); n++ {
		vary(body, n)
		_, acquired := s.Lease(ctx, "a", new(acquire(idA, store.MaxLease)))
		_, read := s.Get(ctx, "a", nil)
		_, written := s.Put(ctx, "a", body, o)
		_, released := s.Lease(ctx, "a", new(release(idA)))
		for _, err := range []error{acquired, read, written, released} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchStat(b *testing.B, s store.Store) {
	for b.Loop() {
		if _, err := s.Stat(b.Context(), "a", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func benchLease(b *testing.B, s store.Store) {
	for b.Loop() {
		for _, r := range []store.LeaseRequest{acquire(idA, store.MaxLease), release(idA)} {
			if _, err := s.Lease(b.Context(), "a", &r); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchList(b *testing.B, s store.Store, blobs int) {
	for i := range blobs {
		o := &store.PutOptions{Metadata: streamMetadata}
		if _, err := s.Put(b.Context(), fmt.Sprintf("list/%05d", i), nil, o); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, err := range s.List(b.Context(), "list/") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// streamMetadata is like that of a stream.
var streamMetadata = map[string]string{
	"status": "inprocess", "pipeline": "codestats", "input": "9b2e4f6a8c0d1e3f", "progress": "12/40",
	"ok": "12", "failed": "0", "ready": "Count:8", "running": "Count:4", "steer": "0",
	"commits": "w1:18:1764487931 w2:4:1764487932",
}
