package cli

import (
	"os/user"
	"testing"
)

func TestWho(t *testing.T) {
	system := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		system = u.Username
	}
	for _, test := range []struct {
		by          string
		environment map[string]string
		want        string
	}{
		{"eve", map[string]string{"USER": "adam"}, "eve"},
		{"", map[string]string{"USER": "adam"}, "adam"},
		{"", map[string]string{"USERNAME": "adam"}, "adam"},
		{"", nil, system},
	} {
		a := &app{getenv: func(name string) string { return test.environment[name] }}
		s := steering{by: test.by}
		if got := s.who(a); got != test.want {
			t.Errorf("who() with --by %q, %v = %q, want %q", test.by, test.environment, got, test.want)
		}
	}
}
