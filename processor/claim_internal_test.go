package processor

import (
	"context"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// An edit has one time, that of its begin. What falls due while it is under way
// must not make it fail.
func TestClaiming_LeavesWhatFallsDueMeanwhile(t *testing.T) {
	sc := scope.New(memstore.New(nil), nil)
	defer sc.Close()
	pl, err := NewPipeline("p", nil, Step{Name: "A", Concurrency: 1, Handler: func(context.Context, *Task) (Outcome, error) {
		return Complete(nil), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(New(sc, nil), "w", 1, &WorkOptions{}, []*Pipeline{pl})
	begin := time.Now().Add(-time.Minute)
	s, err := eventstream.New(begin, eventstream.Start{Name: "r", Run: "r", Definition: pl.Definition(),
		Root: eventstream.NewEvent{Name: "A", Due: begin.Add(time.Millisecond)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now  time.Time
		want int
	}{{begin, 0}, {begin.Add(time.Second), 1}} {
		claims := &claiming{w: w, stream: "r", own: 1}
		_, err := s.Edit(c.now, func() error { return claims.run(s) })
		if err != nil || len(claims.got) != c.want {
			t.Errorf("claimed %d, %v, %v after the begin, want %d", len(claims.got), err, c.now.Sub(begin), c.want)
		}
	}
}
