package processor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func TestRetryAfterError(t *testing.T) {
	cause := errors.New("too many requests")
	err := error(&processor.RetryAfterError{After: 30 * time.Second, Err: cause})
	if got, want := err.Error(), "too many requests; asked to try again after 30s"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Errorf("errors.Is(%v, %v) = false, want the cause to be found", err, cause)
	}
}

// The larger of the backoff, here of 4 to 8 s, and the wait that was asked for is
// kept, give or take the time until a poll sees the event.
func TestRun_RetryAfter(t *testing.T) {
	for _, c := range []struct {
		after             time.Duration
		shortest, longest time.Duration
	}{
		{time.Minute, time.Minute, time.Minute},
		{time.Second, 4 * time.Second, 8 * time.Second},
		{-time.Minute, 4 * time.Second, 8 * time.Second},
		{1 << 62, time.Hour, time.Hour},
	} {
		t.Run(c.after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newWorld(t).process(nil)
				var failed time.Time
				var waited time.Duration
				pl := pipeline(t, processor.Step{
					Name:  "A",
					Retry: processor.Retry{Attempts: 2, Backoff: 8 * time.Second},
					Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
						if task.Attempt > 1 {
							waited = time.Since(failed)
							return processor.Complete(nil), nil
						}
						failed = time.Now()
						return processor.Outcome{}, fmt.Errorf("ask the server: %w", &processor.RetryAfterError{After: c.after, Err: errors.New("busy")})
					},
				})
				p.work(nil, pl)
				wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, "")
				if waited < c.shortest || waited > c.longest+2*time.Second {
					t.Errorf("the second attempt came after %s, want %s to %s", waited, c.shortest, c.longest)
				}
				attempts := p.stream("r").Event("00").Attempts()
				if len(attempts) != 1 || !strings.HasPrefix(attempts[0].Error, "ask the server: busy; asked to try again after ") {
					t.Errorf("attempts = %+v, want the failed one with the wait", attempts)
				}
			})
		})
	}
}

// A wait that is asked for does not buy a further attempt.
func TestRun_RetryAfterLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Retry: processor.Retry{Attempts: 1}, Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Outcome{}, &processor.RetryAfterError{After: time.Minute, Err: errors.New("busy")}
		}})
		p.work(nil, pl)
		begin := time.Now()
		wantEnd(t, p.run(pl, "r", nil), eventstream.Aborted, false, "")
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("the run took %s, want no wait", took)
		}
	})
}
