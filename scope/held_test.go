package scope_test

import (
	"context"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
)

func TestHeld_ReadsNothingAfterTheLoss(t *testing.T) {
	contest(t, func(t *testing.T, w *world, _ *ledger) {
		w.cutRenewals()
		s := newScope(t, &lateAnswers{Store: w.st, op: "get", delay: 20 * time.Second}, nil)
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			object, err := h.Get(context.WithoutCancel(ctx))
			wantErr(t, "Get()", err, scope.ErrLeaseLost)
			if object != nil {
				t.Errorf("Get() shows %q", object.Body)
			}
			return nil
		}, nil)
		wantErr(t, "Run()", err, scope.ErrLeaseLost)
	})
}

func TestHeld_DeletesAContainer(t *testing.T) {
	contest(t, func(t *testing.T, w *world, _ *ledger) {
		err := w.newScope(nil).Run(t.Context(), "", func(ctx context.Context, h *scope.Held) error {
			return h.Delete(ctx)
		}, nil)
		if err != nil {
			t.Error(err)
		}
	})
}
