package processortest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor"
)

// FailFirst is a handler of which the first n attempts at each event fail, with an
// error that matches [ErrInjected], before h is called.
func FailFirst(n int, h processor.Handler) processor.Handler {
	var mu sync.Mutex
	attempts := map[string]int{} // so far, by run and event
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		mu.Lock()
		attempts[t.Key()]++
		attempt := attempts[t.Key()]
		mu.Unlock()
		if attempt <= n {
			return processor.Outcome{}, fmt.Errorf("attempt %d of event %s: %w", attempt, t.Event, ErrInjected)
		}
		return h(ctx, t)
	}
}

// Slow is a handler that takes d of fake time before h is called, or until its
// context ends.
func Slow(d time.Duration, h processor.Handler) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return h(ctx, t)
		case <-ctx.Done():
			return processor.Outcome{}, context.Cause(ctx)
		}
	}
}
