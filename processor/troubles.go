package processor

import "fmt"

// troubles sums up what failed among things that do not depend on each other, and
// may be many: the first error and how many more there were.
type troubles struct {
	first error
	more  int
}

func (t *troubles) add(err error) {
	switch {
	case err == nil:
	case t.first == nil:
		t.first = err
	default:
		t.more++
	}
}

func (t *troubles) err() error {
	if t.more == 0 {
		return t.first
	}
	return fmt.Errorf("%w (and %d more)", t.first, t.more)
}
