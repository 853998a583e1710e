package eventstream

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

// Limits are how many events of a step workers may handle at a time in this run,
// by step, where that was changed by [Stream.SetLimit]; 0 stands for no limit.
// What a foreign hand wrote and cannot be read is left out.
func (s *Stream) Limits() map[string]int {
	text := s.Attr("limits")
	if text == "" {
		return nil
	}
	limits, _ := parseLimits(text)
	return limits
}

// SetLimit changes how many events of a step workers may handle at a time in this
// run; 0 lifts the limit. Handlers that run are left to finish. by may be empty.
// ErrFinal if the run has ended, ErrValue for a negative limit.
func (s *Stream) SetLimit(step string, n int, by string) error {
	switch {
	case s.tx == nil:
		return ErrNoEdit
	case step == "" || n < 0:
		return fmt.Errorf("limit step %q to %d: %w", step, n, ErrValue)
	case s.IsDone():
		return fmt.Errorf("limit step %q of %v: %w", step, s, ErrFinal)
	}
	limits, _ := parseLimits(s.Attr("limits"))
	if old, ok := limits[step]; ok && old == n {
		return nil
	}
	limits[step] = n
	return s.SetAttrs("limits", encodeCounts(limits), "limitsBy", by)
}

// Running is how many events of a step workers handle, from the index.
func (s *Stream) Running(step string) int {
	if t := s.topics[step]; t != nil {
		return t.running
	}
	return 0
}

// parseLimits gives what can be read, and an error if that is not all.
func parseLimits(text string) (map[string]int, error) {
	limits := map[string]int{}
	values, err := url.ParseQuery(text)
	for step := range maps.Keys(values) {
		n, numberErr := strconv.Atoi(values.Get(step))
		if numberErr != nil || n < 0 || step == "" {
			err = fmt.Errorf("%q is no limit of step %q", values.Get(step), step)
			continue
		}
		limits[step] = n
	}
	if err != nil {
		return limits, fmt.Errorf("%w: limits %.80q: %w", ErrValue, text, err)
	}
	return limits, nil
}

// encodeCounts writes counts by name in the form of a URL's query, sorted.
func encodeCounts(counts map[string]int) string {
	values := url.Values{}
	for name, n := range counts {
		values.Set(name, strconv.Itoa(n))
	}
	return values.Encode()
}
