package pipeline

import (
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/internal/nearest"
)

// suggest ends a message about an unknown name: with the known name that was
// probably meant, or else with all that are known.
func suggest(name string, known []string) string {
	if near := nearest.Of(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known here: " + strings.Join(known, ", ")
}
