package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

// RunBenchmarks measures what a LeaseScope is made of, on one store. The bodies
// are like documents of 12, 1,000 and 13,000 events.
func RunBenchmarks(b *testing.B, h Harness) {
	for _, size := range []int{4_000, 300_000, 4_000_000} {
		kb := fmt.Sprintf("%dKB", size/1000)
		body := document(size)
		b.Run("Get/"+kb, func(b *testing.B) { benchGet(b, openBench(b, h), body) })
		b.Run("Put/"+kb, func(b *testing.B) { benchPut(b, openBench(b, h), body) })
		b.Run("Scope/"+kb, func(b *testing.B) { benchScope(b, openBench(b, h), body) })
	}
	for _, size := range []int{300_000, 4_000_000} {
		kb := fmt.Sprintf("%dKB", size/1000)
		pieces := cutEven(string(document(size)))
		b.Run("GetPieces/"+kb, func(b *testing.B) { benchGetPieces(b, openBench(b, h), pieces) })
		b.Run("PutPieces/"+kb, func(b *testing.B) { benchPutPieces(b, openBench(b, h), pieces) })
	}
	b.Run("Stat", func(b *testing.B) { benchStat(b, openBench(b, h)) })
	b.Run("AcquireRelease", func(b *testing.B) { benchLease(b, openBench(b, h)) })
	b.Run("List/1000", func(b *testing.B) { benchList(b, openBench(b, h), 1000) })
	b.Run("Crowd/16", func(b *testing.B) { benchCrowd(b, openBench(b, h), document(30_000), 16) })
}

// document is a body of so many bytes that packs as well as a stream does: lines
// that differ in a few numbers.
func document(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `<Event id="%02d.00" name="Work" topic="Work" status="completed" prev="00" trackingId="e2e0205a-2848-42c5-8067-1f094aa64d48"`+
			` created="2026-11-30T17:02:08.633Z" timestamp="2026-11-30T17:02:%02d.%03dZ" key="worker-1" started="2026-11-30T17:02:%02d.%03dZ"`+
			` attempt="1"><Input>{"n":%d}</Input><Output>%d</Output></Event>`+"\n", i, i/999%60, i*7%999, i/999%60, i*3%999, i, i*i)
	}
	return b.Bytes()[:size]
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

// vary returns the body of the next edit. Like that of a stream it is of another
// length, so that all that follows has moved: a store that writes only the pages
// that differ gains nothing.
func vary(body []byte, n int) []byte {
	copy(body[len(body)/2:], fmt.Sprintf("%020d", n))
	return body[n%32:]
}

func benchPut(b *testing.B, s store.Store, body []byte) {
	b.SetBytes(int64(len(body)))
	for n := 0; b.Loop(); n++ {
		if _, err := s.Put(b.Context(), "a", vary(body, n), &store.PutOptions{Metadata: streamMetadata}); err != nil {
			b.Fatal(err)
		}
	}
}

// cutEven cuts a body in pieces as large as those of a stream.
func cutEven(body string) (pieces []string) {
	const size = 26_000
	for ; len(body) > size; body = body[size:] {
		pieces = append(pieces, body[:size])
	}
	return append(pieces, body)
}

// benchPutPieces changes four pieces with each Put: three that are always the same, as
// where events are claimed and completed, and one elsewhere.
func benchPutPieces(b *testing.B, s store.Store, pieces []string) {
	had := mustPutBench(b, s, pieces, nil)
	b.SetBytes(int64(had.Size()))
	for n := 0; b.Loop(); n++ {
		last := len(pieces) - 1
		for _, i := range []int{0, last / 2, last - 1, n * 7 % last} {
			pieces[i] = changedPiece(pieces[i], n)
		}
		had = mustPutBench(b, s, pieces, had)
	}
}

// changedPiece is a piece with another line in the middle, of the same length.
func changedPiece(piece string, n int) string {
	half := len(piece) / 2
	line := fmt.Sprintf("%020d", n)
	return piece[:half] + line + piece[half+len(line):]
}

func mustPutBench(b *testing.B, s store.Store, pieces []string, had *store.Body) *store.Body {
	_, body, err := store.PutPieces(b.Context(), s, "a", pieces, had, &store.PutOptions{Metadata: streamMetadata})
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// benchGetPieces reads a body of which a tenth is not known.
func benchGetPieces(b *testing.B, s store.Store, pieces []string) {
	had := mustPutBench(b, s, pieces, nil)
	b.SetBytes(int64(had.Size()))
	for i := 0; i < len(had.Keys); i += 10 {
		had.Keys[i] = 0
	}
	for b.Loop() {
		if _, _, err := store.GetPieces(b.Context(), s, "a", had, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// benchScope acquires, reads, writes and releases.
func benchScope(b *testing.B, s store.Store, body []byte) {
	ctx := b.Context()
	o := &store.PutOptions{Metadata: streamMetadata, Conditions: store.Conditions{LeaseID: idA}}
	for n := 0; b.Loop(); n++ {
		_, acquired := s.Lease(ctx, "a", new(acquire(idA, store.MaxLease)))
		_, read := s.Get(ctx, "a", nil)
		_, written := s.Put(ctx, "a", vary(body, n), o)
		_, released := s.Lease(ctx, "a", new(release(idA)))
		for _, err := range []error{acquired, read, written, released} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// benchCrowd has at least so many clients at work at once, each on a blob of its
// own, and measures one round of each: acquire, write, renew, release.
func benchCrowd(b *testing.B, s store.Store, body []byte, clients int) {
	var count atomic.Int64
	b.SetParallelism((clients + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		name, own := fmt.Sprintf("crowd/%d", count.Add(1)), bytes.Clone(body)
		_, err := s.Put(b.Context(), name, nil, nil)
		for n := 0; err == nil && pb.Next(); n++ {
			err = leaseAndPut(b.Context(), s, name, vary(own, n))
		}
		if err != nil {
			b.Error(err)
		}
	})
}

func leaseAndPut(ctx context.Context, s store.Store, name string, body []byte) error {
	o := &store.PutOptions{Metadata: streamMetadata, Conditions: store.Conditions{LeaseID: idA}}
	_, acquired := s.Lease(ctx, name, new(acquire(idA, store.MaxLease)))
	_, written := s.Put(ctx, name, body, o)
	_, renewed := s.Lease(ctx, name, new(renew(idA)))
	_, released := s.Lease(ctx, name, new(release(idA)))
	return errors.Join(acquired, written, renewed, released)
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
