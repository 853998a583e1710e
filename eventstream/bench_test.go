package eventstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/antchfx/xmlquery"

	"github.com/leasestream/leasestream/eventstream"
)

// canonical makes a document of n events as we write them: one splitter and its
// branches, 14 attributes and about 267 bytes an event, half of them completed,
// a few waiting.
func canonical(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<EventStream name=\"bench\" run=\"k3v9x2\" pipeline=\"p\">\n")
	ids := make([]string, n-1)
	for i := range ids {
		ids[i] = eventstream.JoinID("", i+1) + ".00"
	}
	fmt.Fprintf(&b, `<Event id="00" name="Start" topic="Start" status="inprocess" created="2026-11-30T07:33:51.120Z" timestamp="2026-11-30T07:33:52.004Z" next="%s" join="Done"/>`+"\n",
		strings.Join(ids, "|"))
	for i, id := range ids {
		status := []string{"completed", "inprocess"}[i%2]
		if i%40 == 1 {
			status = "init"
		}
		fmt.Fprintf(&b, `<Event id=%q name="Search" topic="Search" status=%q prev="00" trackingId="9b2e%08d" created="2026-11-30T07:33:51.120Z" `+
			`timestamp="2026-11-30T07:33:52.004Z" key="host1-4711-a1b2c3d4" started="2026-11-30T07:33:51.500Z" attempt="1" failures="0" msg="a &amp; b" tag="x"/>`+"\n", id, status, i)
	}
	b.WriteString("</EventStream>\n")
	return b.Bytes()
}

var sizes = []int{1_000, 100_000}

func BenchmarkParse(b *testing.B) {
	for _, n := range sizes {
		doc := canonical(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := eventstream.Parse(doc); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
		})
		b.Run(fmt.Sprint(n, "/xmlquery"), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if _, err := xmlquery.Parse(bytes.NewReader(doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReload follows a document in which 200 events change back and forth.
func BenchmarkReload(b *testing.B) {
	for _, n := range sizes {
		doc := canonical(n)
		texts := [][]byte{bytes.Replace(doc, []byte(`tag="x"`), []byte(`tag="yy"`), 200), doc}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := mustParse(b, doc)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if next, err := s.Reload(texts[i%2]); next != s {
					b.Fatalf("Reload = %v, %v, want the same stream", next, err)
				}
			}
		})
	}
}

// BenchmarkReloadPieces does so with pieces, of which those without a change are known.
func BenchmarkReloadPieces(b *testing.B) {
	for _, n := range sizes {
		s := mustParse(b, canonical(n))
		other := mustParse(b, bytes.Replace(s.Bytes(), []byte(`tag="x"`), []byte(`tag="yy"`), 200))
		s.Compact()
		other.Compact()
		texts := [][]string{other.Pieces(), s.Pieces()}
		for i, piece := range texts[1] {
			if texts[0][i] == piece {
				texts[0][i] = piece // the same string
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(s.Size()))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if next, err := s.ReloadPieces(texts[i%2]); next != s {
					b.Fatalf("ReloadPieces = %v, %v, want the same stream", next, err)
				}
			}
		})
	}
}

// BenchmarkRetained measures what a stream keeps, per byte of the document.
func BenchmarkRetained(b *testing.B) {
	for _, n := range sizes {
		doc := canonical(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			kept := 0.0
			for b.Loop() {
				before := heap()
				s, err := eventstream.Parse(doc)
				if err != nil {
					b.Fatal(err)
				}
				kept = float64(heap()-before) / float64(len(doc))
				runtime.KeepAlive(s)
			}
			b.ReportMetric(kept, "bytes/byte")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkBytes(b *testing.B) {
	for _, n := range sizes {
		s := mustParse(b, canonical(n))
		buf := make([]byte, 0, s.Size())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(s.Size()))
			b.ReportAllocs()
			for b.Loop() {
				buf = s.AppendTo(buf[:0])
			}
		})
	}
}

func mustParse(b *testing.B, doc []byte) *eventstream.Stream {
	b.Helper()
	s, err := eventstream.Parse(doc)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkPropagate ends the last branch four splits deep, so that the status
// goes up to the root, and undoes it: in streams of 5 and of about 100,000
// events.
func BenchmarkPropagate(b *testing.B) {
	for _, width := range []int{1, 17} {
		s := tree(b, width)
		b.Run(fmt.Sprint(s.Len()), func(b *testing.B) {
			e := s.Event("01.01.01.01.00")
			b.ReportAllocs()
			for b.Loop() {
				ended := false
				_, err := s.Edit(epoch, func() error {
					if err := s.Update(e, "status", "completed"); err != nil {
						return err
					}
					ended = s.IsDone()
					return errWanted
				})
				if !errors.Is(err, errWanted) || !ended {
					b.Fatal(err, ended)
				}
			}
		})
	}
}

// tree splits four times into so many branches each, and ends all but the first
// of the deepest.
func tree(b *testing.B, width int) *eventstream.Stream {
	b.Helper()
	s, err := eventstream.New(epoch, eventstream.Start{Root: eventstream.NewEvent{Name: "A"}})
	if err != nil {
		b.Fatal(err)
	}
	_, err = s.Edit(epoch, func() error {
		leaves := []*eventstream.Event{s.Root()}
		for range 4 {
			var next []*eventstream.Event
			for _, e := range leaves {
				created, err := s.Split(e, make([]eventstream.NewEvent, width), nil)
				if err != nil {
					return err
				}
				next = append(next, created...)
			}
			leaves = next
		}
		for _, e := range leaves[1:] {
			if err := s.Complete(e, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkRollback costs what was changed, not what there is.
func BenchmarkRollback(b *testing.B) {
	for _, n := range sizes {
		s := mustParse(b, canonical(n))
		e := s.Event("01.00")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Edit(epoch, func() error {
					if err := s.Update(e, "tag", "y"); err != nil {
						return err
					}
					return errWanted
				}); !errors.Is(err, errWanted) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range sizes {
		s := mustParse(b, canonical(n))
		id := s.At(n / 2).ID()
		b.Run(fmt.Sprint(n, "/Event"), func(b *testing.B) {
			for b.Loop() {
				if s.Event(id) == nil {
					b.Fatal("not found")
				}
			}
		})
		b.Run(fmt.Sprint(n, "/ByStatus"), func(b *testing.B) {
			for b.Loop() {
				for range s.ByStatus(eventstream.Init) {
					break
				}
			}
		})
		b.Run(fmt.Sprint(n, "/Claimable"), func(b *testing.B) {
			for b.Loop() {
				for range s.Claimable(epoch, n/2) {
					break
				}
			}
		})
		b.Run(fmt.Sprint(n, "/Summary"), func(b *testing.B) {
			for b.Loop() {
				s.Summary()
			}
		})
	}
}

// BenchmarkJob claims and completes events one edit each, as a worker does.
func BenchmarkJob(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		s, err := eventstream.New(epoch, eventstream.Start{Root: eventstream.NewEvent{Name: "A"}})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		edit := func(f func() error) {
			if _, err := s.Edit(epoch, f); err != nil {
				b.Fatal(err)
			}
		}
		edit(func() error {
			_, err := s.Split(s.Root(), make([]eventstream.NewEvent, n), &eventstream.SplitOptions{Join: "J"})
			return err
		})
		for i := range n {
			e := s.At(i + 1)
			edit(func() error { return s.Claim(e, "w") })
			edit(func() error { return s.Complete(e, eventstream.JSON([]byte("1"))) })
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/job")
}
