package processor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestLoggedError_KeepsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		text := strings.Repeat("what the program said\n", 1000)
		pl := pipeline(t, processor.Step{Name: "A", Retry: processor.Retry{Attempts: 3}, Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			switch task.Attempt {
			case 1:
				return processor.Outcome{}, fmt.Errorf("step: %w", &processor.LoggedError{Log: []byte(text), Err: errors.New("exit status 1")})
			case 2:
				return processor.Outcome{}, &processor.LoggedError{Err: errors.New("exit status 2")}
			}
			return processor.Complete(nil), nil
		}})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, "")
		attempts := p.stream("r").Root().Attempts()
		if len(attempts) != 2 || attempts[0].Error != "step: exit status 1" || attempts[1].Error != "exit status 2" {
			t.Fatalf("Attempts() = %+v, want the two that failed", attempts)
		}
		log, ok := attempts[0].Log()
		if !ok || !strings.HasPrefix(log.Ref, "payload/"+p.stream("r").Run()+"/00.") || !strings.HasSuffix(log.Ref, ".log") {
			t.Fatalf("Log() = %+v, %v, want a payload of the run", log, ok)
		}
		if got, err := p.Payload(t.Context(), log); err != nil || string(got) != text {
			t.Errorf("Payload() of the log has %d bytes, %v, want %d", len(got), err, len(text))
		}
		if log, ok := attempts[1].Log(); ok {
			t.Errorf("Log() of an attempt that said nothing = %+v", log)
		}
		time.Sleep(50 * time.Hour)
		if got := w.blobs("payload/"); !slices.Equal(got, []string{log.Ref}) {
			t.Errorf("payloads after two days = %q, want the log, to which the archived run refers", got)
		}
		if purged, err := p.Purge(t.Context(), "r"); err != nil || purged.Payloads != 1 {
			t.Errorf("Purge() = %+v, %v, want the log removed", purged, err)
		}
	})
}

// Without its log an attempt counts all the same.
func TestLoggedError_LogCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		spy := storetest.NewFaults(w.st, func(call storetest.Call) (bool, error) {
			if strings.HasSuffix(call.Name, ".log") {
				return false, &store.Error{Op: "put", Err: errCut}
			}
			return true, nil
		})
		p := w.processOn(spy, nil)
		pl := pipeline(t, processor.Step{Name: "A", Retry: processor.Retry{Attempts: 1}, Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Outcome{}, &processor.LoggedError{Log: []byte("lost"), Err: errors.New("exit status 1")}
		}})
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Aborted, false, "")
		if got := p.stream("r").Root().Attempts(); len(got) != 1 || got[0].Error != "exit status 1" || got[0].Ref != "" {
			t.Errorf("Attempts() = %+v, want the failure without a log", got)
		}
	})
}
