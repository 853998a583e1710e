package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: a.do(func(context.Context, []string) error {
			_, err := fmt.Fprintln(a.stdout, versionLine(buildInfo()))
			return err
		}),
	}
}

// version is that of this program, as far as its build knows it.
func version() string { return buildInfo().Main.Version }

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// versionLine has the version, the commit and the version of Go.
func versionLine(info *debug.BuildInfo) string {
	version, commit, changed := "(devel)", "unknown", ""
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	return fmt.Sprintf("leasestream %s, commit %s%s, %s", version, commit, changed,
		cmp.Or(info.GoVersion, "unknown version of Go"))
}
