package storetest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func TestScenario_Fault(t *testing.T) {
	s := scenario{want: []string{"LeaseLost expired", "LeaseIdMismatch expired"}}
	known := &Deviation{Number: 4, Answer: "ok leased(A)"}
	for _, c := range []struct {
		got  string
		d    *Deviation
		want string // in the fault; "" for none
	}{
		{"LeaseLost expired", nil, ""},
		{"LeaseIdMismatch expired", nil, ""},
		{"ok leased(A)", nil, `want "LeaseLost expired" or "LeaseIdMismatch expired"`},
		{"ok leased(A)", known, ""},
		{"LeaseLost expired", known, "deviation 4 is gone"},
		{"ok available", known, `want deviation 4: "ok leased(A)"`},
	} {
		got := s.fault(c.got, c.d)
		if got != "" != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("fault(%q, %v) = %q, want %q", c.got, c.d, got, c.want)
		}
	}
}

// TestPlay_OneClock plays all scenarios as for a service, whose time cannot be
// faked, and holds how long that takes.
func TestPlay_OneClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		playRight(t, func(s store.Store) store.Store { return s })
		if took := time.Since(began); took > 21*time.Second {
			t.Errorf("the scenarios take %v on one clock, want at most 21s", took)
		}
	})
}

// TestPlay_SlowStore plays them on a service that takes up to a second for each
// request: they may take longer, and must not come out otherwise.
func TestPlay_SlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := func(Call) (bool, error) {
			time.Sleep(rand.N(time.Second))
			return true, nil
		}
		playRight(t, func(s store.Store) store.Store {
			return struct{ store.Store }{NewFaults(s, slowly)} // which does not say that it is local
		})
	})
}

// playRight plays all scenarios on one clock, on stores that over makes.
func playRight(t *testing.T, over func(store.Store) store.Store) {
	t.Helper()
	h := Harness{Open: func(testing.TB) store.Store { return over(memstore.New(nil)) }}
	all, answers := scenarios(), map[string]string{}
	play(cast(t, h, all), answers)
	for _, s := range all {
		if fault := s.fault(answers[s.key], nil); fault != "" {
			t.Errorf("%s: %s", s.key, fault)
		}
	}
}

func TestScenarios_KeysAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		if seen[s.key] {
			t.Errorf("two scenarios have the key %q", s.key)
		}
		seen[s.key] = true
	}
	for _, c := range checks() {
		if seen[c.key] {
			t.Errorf("two cases have the key %q", c.key)
		}
		seen[c.key] = true
	}
}
