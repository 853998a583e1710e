package eventstream_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/antchfx/xmlquery"

	"github.com/leasestream/leasestream/eventstream"
)

func TestZZCPU(t *testing.T) {
	for _, n := range []int{1000} {
		doc := canonical(n)
		best := func(reps int, f func()) time.Duration {
			min := time.Hour
			for range reps {
				t0 := time.Now()
				f()
				if d := time.Since(t0); d < min {
					min = d
				}
			}
			return min
		}
		a := best(4000000/n, func() { eventstream.Parse(doc) })
		b := best(40000/n+2, func() { xmlquery.Parse(bytes.NewReader(doc)) })
		t.Logf("n=%d size/event %d: ours min ns/event %d xmlquery %d ratio %.1f", n, len(doc)/n, int(a)/n, int(b)/n, float64(b)/float64(a))
	}
}
