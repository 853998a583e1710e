package nearest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/internal/nearest"
)

func ExampleOf() {
	fmt.Println(nearest.Of("stroe", []string{"store", "bus", "start"}))
	// Output: store
}

func TestOf(t *testing.T) {
	known := []string{"store", "bus", "log-level", "log-format", "workers"}
	for _, test := range []struct{ name, want string }{
		{"store", "store"},
		{"Store", "store"},
		{"stor", "store"},
		{"strore", "store"},
		{"stroe", "store"},
		{"loglevel", "log-level"},
		{"log_format", "log-format"},
		{"bu", "bus"},
		{"b", ""},
		{"", ""},
		{"something", ""},
		{"wörkers", "workers"},
		{strings.Repeat("store", 100), ""},
	} {
		if got := nearest.Of(test.name, known); got != test.want {
			t.Errorf("Of(%q) = %q, want %q", test.name, got, test.want)
		}
	}
	if got := nearest.Of("store", nil); got != "" {
		t.Errorf("Of() of nothing known = %q", got)
	}
}
