package natsbus

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// subject is where doorbells for a step go.
func subject(prefix, step string) string {
	if step == "" {
		return prefix + ".look"
	}
	return prefix + ".step." + token(step)
}

// maxToken is the longest step that stands in a subject as it is, in bytes of the
// token. The server closes connections over longer lines than 4 KiB.
const maxToken = 300

// token writes a step as one token of a subject: letters, digits, _ and - as they
// are, any other byte as %XX, and what is too long as a hash, which no step can
// look like.
func token(step string) string {
	var t strings.Builder
	for i := range len(step) {
		if c := step[i]; plain(c) {
			t.WriteByte(c)
		} else {
			fmt.Fprintf(&t, "%%%02X", c)
		}
		if t.Len() > maxToken {
			return fmt.Sprintf("%%sha256-%x", sha256.Sum256([]byte(step)))
		}
	}
	return t.String()
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// checkPrefix refuses what is not one or more tokens.
func checkPrefix(prefix string) error {
	for t := range strings.SplitSeq(prefix, ".") {
		if t == "" || token(t) != t {
			return fmt.Errorf("prefix %q of subjects: want letters, digits, _ and -, with dots between", prefix)
		}
	}
	return nil
}
