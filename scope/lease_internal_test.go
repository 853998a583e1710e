package scope

import (
	"errors"
	"testing"
	"time"
)

// A machine that slept finds its monotonic clock where it was and the wall clock
// far ahead; a lease that ran out meanwhile must not be used for one more write.
func TestLease_LostWhenEitherClockPassedIt(t *testing.T) {
	for _, test := range []struct {
		name       string
		mono, wall time.Duration // from now to the end of trust
		lost       bool
	}{
		{"neither", time.Minute, time.Minute, false},
		{"the wall clock alone", time.Minute, -time.Second, true},
		{"the monotonic clock alone", -time.Second, time.Minute, true},
	} {
		s := New(nil, nil)
		l := s.newLease(t.Context(), "a", "id", s.set.terms, s.clock.instant())
		now := s.clock.instant()
		l.trusted = instant{now.mono + test.mono, now.wall.Add(test.wall)}
		if err := l.Err(); errors.Is(err, ErrLeaseLost) != test.lost {
			t.Errorf("%s: Err() = %v, want lost: %t", test.name, err, test.lost)
		}
		if lost := l.Context().Err() != nil; lost != test.lost {
			t.Errorf("%s: context ended: %t, want %t", test.name, lost, test.lost)
		}
	}
}
