package eventstream

import (
	"fmt"
	"iter"
	"slices"
)

// readOnly maps the attributes that nobody sets by hand to how they are set.
var readOnly = map[string]string{
	"id":         "it is given when an event is created",
	"prev":       "it is given when an event is created",
	"next":       "use Next, Split or Reopen",
	"superseded": "use Reopen",
	"timestamp":  "every change sets it",
	"status":     "use Update, alone",
}

// judged are the attributes by which splits are judged. They stay as they are
// when the event is final: what they decided is done.
var judged = []string{"join", "policy", "branches", "ok", "failed"}

// eachPair yields pairs of name and value; a name without a value is left out.
func eachPair(pairs []string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if !yield(pairs[i], pairs[i+1]) {
				return
			}
		}
	}
}

func oddPairs(pairs []string) error {
	return fmt.Errorf("%w: attribute %q has no value", ErrValue, pairs[len(pairs)-1])
}

// checkPairs makes changes to an event of pairs of name and value, and appends them.
func checkPairs(changes []change, e *Event, pairs []string) ([]change, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("event %s: %w", e.id, oddPairs(pairs))
	}
	for name, value := range eachPair(pairs) {
		if err := checkChangeable(e, name); err != nil {
			return nil, err
		}
		if err := checkEventAttr(name, value); err != nil {
			return nil, fmt.Errorf("event %s: attribute %s: %w", e.id, name, err)
		}
		if name == "attempt" && number(value) < e.Attempt() {
			return nil, fmt.Errorf("event %s: %w: attempt only grows, it is %d", e.id, ErrReadOnly, e.Attempt())
		}
		changes = append(changes, set(name, value))
	}
	return changes, nil
}

func checkChangeable(e *Event, name string) error {
	if how, ok := readOnly[name]; ok {
		return fmt.Errorf("event %s: %w: %s: %s", e.id, ErrReadOnly, name, how)
	}
	if e.status.Final() && slices.Contains(judged, name) {
		return fmt.Errorf("event %s: %w: it is %s, and its %s stays as it was", e.id, ErrFinal, e.status, name)
	}
	return nil
}

// checkEventAttr refuses what would make a document that Parse refuses, and
// what nobody could read.
func checkEventAttr(name, value string) error {
	if err := checkAttr(name, value); err != nil {
		return err
	}
	return new(Event).decode(kindOf(name), value)
}

func checkAttr(name, value string) error {
	if n := nameLen(name); n == 0 || n != len(name) {
		return fmt.Errorf("%w: %q is no attribute name", ErrValue, name)
	}
	if err := checkValue(value); err != nil {
		return err
	}
	return checkReadable(name, value)
}

// checkReadable refuses a time, duration or count that cannot be read.
func checkReadable(name, value string) (err error) {
	if value == "" {
		return nil
	}
	switch name {
	case "created", "timestamp", "started", "due", "paused", "superseded", "deadline":
		_, err = ParseTime(value)
	case "timeout":
		_, err = ParseDuration(value)
	case "attempt", "failures":
		_, err = decodeCount(name, value)
	case "limits":
		_, err = parseLimits(value)
	}
	return err
}
