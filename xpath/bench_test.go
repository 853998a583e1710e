package xpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// bigStream is a split into n branches, every fortieth of which is not done.
func bigStream(t testing.TB, n int) *eventstream.Stream {
	t.Helper()
	var b strings.Builder
	var next []string
	for i := range n - 1 {
		next = append(next, fmt.Sprintf("%02d.00", i+1))
	}
	fmt.Fprintf(&b, "<EventStream name=%q>\n<Event id=\"00\" name=\"Start\" status=\"inprocess\" next=%q/>\n",
		"big", strings.Join(next, "|"))
	for i, id := range next {
		status := "completed"
		if i%40 == 39 {
			status = "init"
		}
		fmt.Fprintf(&b, "<Event id=%q name=\"SearchStart\" topic=\"SearchStart\" status=%q prev=\"00\" "+
			"trackingId=\"9b2e7c1f-3d4a-4b5c-8d6e-%012d\" created=\"2026-11-30T07:33:51.120Z\" "+
			"timestamp=\"2026-11-30T07:33:52.004Z\" key=\"host1-4711-a1b2c3d4\" attempt=\"1\" "+
			"msg=\"a &amp; b\"><Input>{\"city\":\"Brno\"}</Input></Event>\n", id, status, i)
	}
	b.WriteString("</EventStream>\n")
	s, err := eventstream.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const bigLen = 100_000

// BenchmarkSelect compares the index with the engine. The second expression of
// each pair asks the same in a form that the index does not know.
func BenchmarkSelect(b *testing.B) {
	s := bigStream(b, bigLen)
	for _, bench := range []struct{ name, expr string }{
		{"id/index", "./Event[@id='99000.00']"},
		{"id/engine", "./Event[concat(@id,'')='99000.00']"},
		{"id+status/index", "./Event[@id='99000.00' and @status='completed']"},
		{"id+status/engine", "./Event[concat(@id,'')='99000.00' and @status='completed']"},
		{"first of status/index", "./Event[@status='init'][1]"},
		{"status/index", "./Event[@status='init']"},
		{"status/engine", "./Event[concat(@status,'')='init']"},
		{"status equals/engine", "./*[@status='init']"},
		{"descendants/engine", "//Event[@status='init']"},
		{"last/engine", "./Event[last()]"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			x, err := xpath.Compile(bench.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range x.Select(b.Context(), s, nil, nil) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := xpath.Compile("./Event[@id='01.00' and @status='inprocess']"); err != nil {
			b.Fatal(err)
		}
	}
}
