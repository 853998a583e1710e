package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// environmentName is the variable that stands for a flag.
func environmentName(flag string) string {
	return "LEASESTREAM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// setFromEnvironment sets the flags that the command line does not give from
// their variables.
func (a *app) setFromEnvironment(flags *pflag.FlagSet) error {
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		value := a.getenv(environmentName(f.Name))
		if wrong != nil || f.Changed || f.Name == "help" || value == "" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			wrong = fmt.Errorf("%s in the environment: %w", environmentName(f.Name), err)
		}
	})
	return wrong
}
