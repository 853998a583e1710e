package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
)

// Run runs one command and returns its exit code. args are those after the
// program's name, getenv looks up the environment. The end of ctx interrupts the
// command: it stops in good order, and the code is 130.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{stdin: stdin, stdout: stdout, getenv: getenv}
	if drawable(stderr) {
		a.console = stderr
	}
	a.stderr = &errorWriter{w: stderr, redact: a.redact}
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // nil would stand for those of the process
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(a.stderr)
	return a.report(ctx, root.ExecuteContext(telemetry.WithParent(ctx, getenv)))
}

func (a *app) root() *cobra.Command {
	root := a.group("leasestream", "Run business processes with nothing but a storage account",
		a.newRun(), a.newEach(), a.newStart(), a.newWork(),
		a.newLs(), a.newShow(), a.newWatch(), a.newServe(), a.newQuery(),
		a.newCancel(), a.newAbort(), a.newComplete(),
		a.newPause(), a.newResume(), a.newRetry(), a.newSkip(), a.newLimit(), a.newPurge(),
		a.newWorker(),
		a.newLease(), a.newBlob(), a.newDoctor(), a.newConfig(), a.newVersion(), a.newCompletion(),
	)
	root.Long = `Leasestream runs business processes — split a message, process the parts in
parallel, aggregate the results — on any number of machines with nothing but a
storage account, or a local file.

A store is sqlite:PATH, mem:, or the URL of a container:
https://ACCOUNT.blob.core.windows.net/CONTAINER[?SAS]. Credentials that are not in
the URL come from AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or the
machine's login to Azure.

Every flag can also be given in the environment, LEASESTREAM_STORE for --store, and
in a configuration file: see leasestream config --help. Traces and metrics go where
the OTEL_* variables of OpenTelemetry say.`
	root.Version = versionLine(buildInfo())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentPreRunE = a.prepare
	root.SetHelpCommand(a.newHelp())
	a.addCommonFlags(root.PersistentFlags())
	for cmd := range commandsBelow(root) {
		sayUsage(cmd)
		addExample(cmd)
	}
	return root
}

// group makes a command that only holds others. Naming none of them is an error
// of usage, answered with the help on standard error.
func (a *app) group(use, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true}
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		fmt.Fprintln(a.stderr, strings.TrimRight(cmd.UsageString(), "\n"))
		return &exitError{code: codeUsage}
	}
	group.AddCommand(commands...)
	return group
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := ""
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		hint = fmt.Sprintf(", did you mean %s?", strings.Join(like, " or "))
	}
	return usagef("unknown command %q for %q%s; see %s --help", name, cmd.CommandPath(), hint, cmd.CommandPath())
}
