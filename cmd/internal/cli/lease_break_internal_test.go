package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

func TestShowRemaining(t *testing.T) {
	for _, test := range []struct {
		remaining time.Duration
		want      string
	}{
		{0, "0\n"},
		{time.Nanosecond, "1\n"},
		{14*time.Second + 999*time.Millisecond, "15\n"},
		{15 * time.Second, "15\n"},
	} {
		var out bytes.Buffer
		a := &app{stdout: &out}
		if err := a.showRemaining(&store.LeaseResult{Remaining: test.remaining}); err != nil || out.String() != test.want {
			t.Errorf("showRemaining(%v) wrote %q, %v, want %q", test.remaining, out.String(), err, test.want)
		}
	}
}
