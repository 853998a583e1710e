package cli

import (
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

func TestInForce(t *testing.T) {
	end := time.Date(2026, 11, 30, 7, 33, 51, 0, time.UTC)
	for _, test := range []struct {
		lease store.LeaseInfo
		want  string
	}{
		{store.LeaseInfo{State: store.LeaseAvailable}, "now no lease is in force (available)"},
		{store.LeaseInfo{State: store.LeaseExpired}, "now no lease is in force (expired)"},
		{store.LeaseInfo{State: store.LeaseBroken}, "now no lease is in force (broken)"},
		{store.LeaseInfo{State: store.LeaseLeased, Infinite: true}, "it has no end"},
		{store.LeaseInfo{State: store.LeaseLeased}, "it lasts for up to 1m0s unless it is renewed"},
		{store.LeaseInfo{State: store.LeaseLeased, Expires: end, Holder: &store.Holder{Host: "h", PID: 7}},
			"it lasts until 2026-11-30T07:33:51.000Z unless it is renewed, held by process 7 on h"},
		{store.LeaseInfo{State: store.LeaseBreaking}, "its break ends within 1m0s"},
		{store.LeaseInfo{State: store.LeaseBreaking, Expires: end}, "its break ends at 2026-11-30T07:33:51.000Z"},
	} {
		if got := inForce(test.lease); got != test.want {
			t.Errorf("inForce(%+v) = %q, want %q", test.lease, got, test.want)
		}
	}
}
