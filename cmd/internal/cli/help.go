package cli

import (
	"github.com/spf13/cobra"
)

// newHelp makes the help command. Unlike the library's own it takes an unknown
// command for the error that it is.
func (a *app) newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Print how a command is used",
		RunE: func(help *cobra.Command, args []string) error {
			cmd, rest, err := help.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, rest[0])
			}
			return cmd.Help()
		},
	}
}
