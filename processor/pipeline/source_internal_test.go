package pipeline

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/token"
)

// A parser that panics must not take the worker with it.
func TestParseTokens_Panic(t *testing.T) {
	_, err := parseTokens(token.Tokens{nil})
	if err == nil || !strings.HasPrefix(err.Error(), "cannot be read as YAML: ") {
		t.Errorf("parseTokens() = %v, want an error", err)
	}
}
