package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) newCompletion() *cobra.Command {
	shells := map[string]func(root *cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(a.stdout, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(a.stdout) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(a.stdout, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(a.stdout) },
	}
	return &cobra.Command{
		Use:   "completion {bash | zsh | fish | powershell}",
		Short: "Print a script with which a shell completes commands and flags",
		Long: `Print a script with which a shell completes commands and flags. For example:

	source <(leasestream completion bash)
	leasestream completion fish | source`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.running = true
			return shells[args[0]](cmd.Root())
		},
	}
}
