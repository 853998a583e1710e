package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersionLine(t *testing.T) {
	for _, test := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, "leasestream (devel), commit unknown, unknown version of Go"},
		{debug.BuildInfo{
			GoVersion: "go1.26.8",
			Main:      debug.Module{Version: "v1.2.3"},
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
		}, "leasestream v1.2.3, commit abc with changes, go1.26.8"},
		{debug.BuildInfo{
			GoVersion: "go1.26.8",
			Settings:  []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}},
		}, "leasestream (devel), commit abc, go1.26.8"},
	} {
		if got := versionLine(&test.info); got != test.want {
			t.Errorf("versionLine() = %q, want %q", got, test.want)
		}
	}
}
