package storetest

import (
	"fmt"
	"os"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

// Long is the environment variable that asks for more rounds of random tests than
// there is time for every day, if it is set.
const Long = "LEASESTREAM_LONG"

// Rounds is the first of two numbers, or the second if Long is set.
func Rounds(daily, long int) int {
	if os.Getenv(Long) == "" {
		return daily
	}
	return long
}

// RunHistories plays n games on stores of the harness, and checks that each makes
// a linearizable history. Beside [Run] it is the second thing that a driver has to
// pass.
func RunHistories(t *testing.T, h Harness, n int) {
	var s store.Store
	if !h.FakeTime {
		s = open(t, h)
	}
	var all History
	for i := range n {
		g := Game{Seed: uint64(i), Prefix: fmt.Sprintf("game-%d/", i), FakeTime: h.FakeTime}
		var history History
		h.live(t, func(t *testing.T) {
			if h.FakeTime {
				s = open(t, h)
			}
			history = g.Play(t.Context(), s, 0, Clients)
		})
		g.Check(t, history, h.Deviations...)
		all = append(all, history...)
		if !h.FakeTime {
			sweep(t, s, g.Prefix)
		}
	}
	all.CheckMix(t)
}

// sweep removes the blobs of a game, since an emulator gets slower with each.
func sweep(t *testing.T, s store.Store, prefix string) {
	t.Helper()
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List() = %v", err)
		}
		_, _ = s.Lease(t.Context(), info.Name, new(breakAfter(0))) // there may be none
		if err := s.Delete(t.Context(), info.Name, nil); err != nil {
			t.Fatalf("Delete() of a blob that nobody holds = %v", err)
		}
	}
}

// CheckMix logs how often each call had each outcome, and fails the test if one
// never succeeded or was never refused: then the games show less than they should.
func (h History) CheckMix(t testing.TB) {
	t.Helper()
	counts := map[string]map[Outcome]int{}
	for _, a := range h {
		if counts[a.Op] == nil {
			counts[a.Op] = map[Outcome]int{}
		}
		counts[a.Op][a.Outcome]++
	}
	t.Logf("%d calls: %v", len(h), counts)
	for _, op := range []string{"get", "put", "delete", "acquire", "renew", "release", "break"} {
		for _, o := range []Outcome{Done, Refused} {
			if counts[op][o] == 0 {
				t.Errorf("in %d calls there is no %s that is %s", len(h), op, o)
			}
		}
	}
}
