package eventstream_test

import (
	"fmt"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// BenchmarkFanOut is what the processor does to the document of a run: it splits it
// into 1,000 branches with a message each, and claims and completes them, each in an
// edit of its own, writing the document after every 64 edits.
func BenchmarkFanOut(b *testing.B) {
	const n = 1000
	branches := make([]eventstream.NewEvent, n)
	for i := range branches {
		branches[i] = eventstream.NewEvent{Name: "Work", Input: eventstream.JSON(fmt.Appendf(nil, `{"n":%d}`, i))}
	}
	b.ReportAllocs()
	for b.Loop() {
		f := fanOut{B: b, Stream: begun(b)}
		f.edit(func() error {
			_, err := f.Split(f.Root(), branches, &eventstream.SplitOptions{Join: "Total"})
			return err
		})
		for i := 1; i <= n; i += 64 {
			f.batch(i, min(i+64, n+1))
		}
		if e := f.Event("01"); e == nil || e.Name() != "Total" {
			b.Fatal("the branches have ended, and there is no join")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/job")
}

func begun(b *testing.B) *eventstream.Stream {
	b.Helper()
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "bench", Run: "k3v9x2", Root: eventstream.NewEvent{Name: "Start", TrackingID: "9b2e00000001"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// fanOut is a run that is worked on.
type fanOut struct {
	*testing.B
	*eventstream.Stream
	document []byte
}

func (f *fanOut) edit(change func() error) {
	if _, err := f.Edit(epoch, change); err != nil {
		f.Fatal(err)
	}
}

// batch claims and completes the events at the places from begin up to end.
func (f *fanOut) batch(begin, end int) {
	const worker = "host1-4711-a1b2c3d4"
	for i := begin; i < end; i++ {
		f.edit(func() error { return f.Claim(f.At(i), worker) })
	}
	f.document = f.AppendTo(f.document[:0])
	output := eventstream.JSON([]byte(`{"sum":12345}`))
	for i := begin; i < end; i++ {
		f.edit(func() error {
			e, err := f.Owned(f.At(i).ID(), worker, 1)
			if err != nil {
				return err
			}
			return f.Complete(e, output)
		})
	}
	f.document = f.AppendTo(f.document[:0])
}
