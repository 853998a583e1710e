package processor

import (
	"io"
	"log/slog"
	"testing"
)

func TestOutcomeKinds_HaveNames(t *testing.T) {
	for kind, name := range outcomeNames {
		if name == "" {
			t.Errorf("outcome kind %d has no name", kind)
		}
	}
}

// What is not traced, measured or logged must cost nothing.
func TestAttempt_CostsNothingWhenOff(t *testing.T) {
	p := &Processor{log: slog.New(slog.DiscardHandler)}
	w := &worker{p: p, id: "w", log: slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	cl := &claim{step: &Step{Name: "A"}, pipeline: &Pipeline{name: "p"}, task: &Task{}}
	v := &verdict{kind: outcomeSplit}
	allocs := testing.AllocsPerRun(100, func() {
		ctx, a := w.begin(t.Context(), cl)
		v.keepTrace(cl)
		cl.ended = v.ending(nil)
		a.end(ctx)
	})
	if allocs != 0 {
		t.Errorf("an attempt costs %v allocations, want 0", allocs)
	}
}
