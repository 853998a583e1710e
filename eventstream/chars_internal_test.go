package eventstream

import (
	"strings"
	"testing"
)

// TestSkipPlain puts each byte into each place of words that are plain otherwise.
func TestSkipPlain(t *testing.T) {
	for c := range 256 {
		for place := range 20 {
			s := strings.Repeat("z", place) + string([]byte{byte(c)}) + strings.Repeat("z", 19-place)
			got := skipPlain(s, 0)
			isPlain := byteClass[c]&plainValue != 0
			if !isPlain && got != place || isPlain && got != place && got != len(s) {
				t.Errorf("skipPlain stops at %d of %q, want %d", got, s, place)
			}
		}
	}
}

func TestSkipPlain_SeveralEnds(t *testing.T) {
	for _, s := range []string{`zz"'<&`, `zz<"zzzz"`, "zz\n\"\"\"\"\"", "zz&\x01\"<zzzz", "\xff\xff\"<zzzz"} {
		if got := skipPlain(s, 0); got != 2 {
			t.Errorf("skipPlain stops at %d of %q, want 2", got, s)
		}
	}
}
