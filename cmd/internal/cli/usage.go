package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sayUsage makes the error of wrong arguments say which ones are right.
func sayUsage(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if _, said := errors.AsType[*exitError](err); err == nil || said {
			return err
		}
		return fmt.Errorf("%s; usage: %s", givenArguments(len(args)), strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
}

func givenArguments(n int) string {
	switch n {
	case 0:
		return "arguments are missing"
	case 1:
		return "1 argument is not what it takes"
	}
	return fmt.Sprintf("%d arguments are not what it takes", n)
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
