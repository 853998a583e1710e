package scope_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// BenchmarkEdit measures edits of one stream of 1,000 events, in memory: what a
// scope itself costs.
func BenchmarkEdit(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(callers, "callers"), func(b *testing.B) { benchEdit(b, callers) })
	}
}

func benchEdit(b *testing.B, callers int) {
	s := scope.New(memstore.New(nil), nil)
	defer s.Close()
	if err := s.Store().Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Create(b.Context(), blob, wide(b, 1000)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetParallelism(max(1, callers/2))
	var next atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(1)
			_, err := s.Edit(b.Context(), blob, func(s *eventstream.Stream) error {
				return s.Update(s.At(int(n)%1000), "key", "worker"+strconv.Itoa(int(n)/1000%10))
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	stats := s.Stats()
	b.ReportMetric(float64(stats.Edits)/float64(stats.Commits), "edits/upload")
	b.ReportMetric(float64(stats.Edits)/b.Elapsed().Seconds(), "edits/s")
}

// wide is a stream with a split into n events.
func wide(tb testing.TB, n int) *eventstream.Stream {
	tb.Helper()
	s, err := eventstream.New(time.Now(), eventstream.Start{Name: "wide", Run: "r", Root: eventstream.NewEvent{Name: "Start"}})
	if err != nil {
		tb.Fatal(err)
	}
	branches := make([]eventstream.NewEvent, n-1)
	for i := range branches {
		branches[i] = eventstream.NewEvent{Name: "Work", Attrs: []string{"tag", "some text of about sixty bytes, for a document of usual size"}}
	}
	_, err = s.Edit(time.Now(), func() error {
		_, err := s.Split(s.Root(), branches, &eventstream.SplitOptions{Join: "Done"})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
