package xpath

import (
	"errors"
	"strings"
	"testing"
)

// TestRun_EnginePanics makes sure that a panic of the engine, which no known
// expression brings about any more, becomes an error.
func TestRun_EnginePanics(t *testing.T) {
	for _, cause := range []any{errors.New("argument type must be string"), "argument type must be string"} {
		r := &run{x: &Expr{text: "//Event"}}
		r.guard(func() { panic(cause) })
		if !errors.Is(r.err, ErrUnsupported) || !strings.Contains(r.err.Error(), `"//Event": the engine gave up: argument type must be string`) {
			t.Errorf("guard of a panic with %v = %v, want ErrUnsupported", cause, r.err)
		}
	}
}
