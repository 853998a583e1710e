package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sayUsage makes the errors of wrong arguments, and of flags that are missing, say
// what is right.
func sayUsage(cmd *cobra.Command) {
	cmd.PreRunE = missingFlag
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if _, said := errors.AsType[*exitError](err); err == nil || said {
			return err
		}
		return misused(cmd, givenArguments(len(args)))
	}
}

func misused(cmd *cobra.Command, what string) error {
	return fmt.Errorf("%s; usage: %s", what, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
}

func givenArguments(n int) string {
	if n == 0 {
		return "arguments are missing"
	}
	return fmt.Sprintf("wrong number of arguments (%d)", n)
}

// missingFlag names the first flag that must be given and is not, by now in the
// environment and the configuration file, too.
func missingFlag(cmd *cobra.Command, _ []string) error {
	missing := ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isRequired(f) && !f.Changed && missing == "" {
			missing = f.Name
		}
	})
	if missing == "" {
		return nil
	}
	return misused(cmd, "--"+missing+" is missing")
}

// require makes a flag one that must be given.
func require(cmd *cobra.Command, name string) {
	// It fails only for a flag that does not exist.
	_ = cmd.MarkFlagRequired(name)
}

func isRequired(f *pflag.Flag) bool {
	return slices.Contains(f.Annotations[cobra.BashCompOneRequiredFlag], "true")
}

// flagError says what a flag wants, where the library tells how it was parsed.
func flagError(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	reason := wrong.Unwrap()
	if _, parsed := errors.AsType[*strconv.NumError](reason); parsed || wrong.GetFlag().Value.Type() == "duration" && isTimeError(reason) {
		reason = errors.New("want " + wanted(wrong.GetFlag().Value.Type()))
	}
	return fmt.Errorf("--%s %q: %w", wrong.GetFlag().Name, wrong.GetValue(), reason)
}

func isTimeError(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "time: ") }

// wanted is what a flag of a type takes.
func wanted(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 15s"
	case "uint":
		return "a whole number from 0"
	}
	return "a number"
}
