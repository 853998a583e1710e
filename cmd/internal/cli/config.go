package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/cmd/internal/wire"
)

// shownSetting is a line of what config prints.
type shownSetting struct{ name, value, from string }

func (a *app) newConfig() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "config [COMMAND...]",
		Short: "Print the settings in force and where they come from",
		Long: `Print the settings in force and where they come from, with secrets masked: those
that all commands share, and what is set for any command; with COMMAND, every
setting of that command.

A setting comes from the command line; else from the environment, LEASESTREAM_STORE
for --store; else from the configuration file. That is the one that --config or
LEASESTREAM_CONFIG names, else leasestream/config.yaml in the user's folder of
configuration (` + "$XDG_CONFIG_HOME or ~/.config" + `, on other systems where they keep it). It is
YAML: a key for each flag that all commands share, and a section for each command.
Nothing in it is expanded or executed, and an unknown key is an error.

  store: https://ACCOUNT.blob.core.windows.net/CONTAINER
  work:
    workers: 8
    log-level: debug
  lease:
    acquire: {duration: 60s}`,
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.RunE = a.do(func(_ context.Context, args []string) error {
		of, rest, err := cmd.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return unknownCommand(cmd.Root(), strings.Join(args, " "))
		}
		list, err := a.shownSettings(cmd, of)
		if err != nil {
			return &exitError{codeUsage, err}
		}
		if format.value == "json" {
			return a.showSettingsJSON(list)
		}
		return a.showSettings(list)
	})
	return cmd
}

// shownSettings are those of one command, or of all where that is the root.
func (a *app) shownSettings(self, of *cobra.Command) ([]shownSetting, error) {
	list := []shownSetting{{"config", a.settings.file, a.configFrom(self)}}
	self.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" {
			list = append(list, a.common(self, f))
		}
	})
	list = append(list, a.credentials()...)
	var errs []error
	for cmd := range commandsBelow(of) {
		own, err := a.ownSettings(cmd, cmd == of)
		list, errs = append(list, own...), append(errs, err)
	}
	return list, errors.Join(errs...)
}

// commandsBelow yields a command and all below it.
func commandsBelow(cmd *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		if !yield(cmd) {
			return
		}
		for _, sub := range cmd.Commands() {
			for c := range commandsBelow(sub) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (a *app) configFrom(self *cobra.Command) string {
	switch {
	case a.fromCommandLine["config"]:
		return fromCommandLine
	case a.getenv(environmentName("config")) != "":
		return environmentName("config") + fromEnvironment
	}
	return fromDefault
}

// common is a setting that commands share, as it is in force for this one.
func (a *app) common(self *cobra.Command, f *pflag.Flag) shownSetting {
	from := fromDefault
	if a.fromCommandLine[f.Name] {
		from = fromCommandLine
	} else if said, ok := a.settings.of(namesOf(self), f.Name); ok {
		from = said.from
	}
	return shownSetting{f.Name, a.masked(f.Name, f.Value.String()), from}
}

// credentials are those in the environment that the store takes, without what
// they are.
func (a *app) credentials() []shownSetting {
	var list []shownSetting
	for _, name := range []string{"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_KEY"} {
		if a.getenv(name) != "" {
			list = append(list, shownSetting{name, "…", "environment"})
		}
	}
	return list
}

// ownSettings are those of one command, the ones that nobody has set only if all
// says so. A value that the flag would refuse is an error.
func (a *app) ownSettings(cmd *cobra.Command, all bool) ([]shownSetting, error) {
	var list []shownSetting
	var errs []error
	names := namesOf(cmd)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(fixed, f.Name) {
			return
		}
		name := strings.Join(append(slices.Clip(names), f.Name), " ")
		said, ok := a.settings.of(names, f.Name)
		switch {
		case ok && !f.Changed:
			errs = append(errs, said.set(cmd.LocalNonPersistentFlags(), f.Name))
			fallthrough
		case ok:
			list = append(list, shownSetting{name, a.masked(f.Name, strings.Join(said.values, ", ")), said.from})
		case all:
			list = append(list, shownSetting{name, a.masked(f.Name, f.DefValue), fromDefault})
		}
	})
	return append(list, a.overrides(cmd)...), errors.Join(errs...)
}

// overrides are the common settings that the file has another value of for a
// command.
func (a *app) overrides(cmd *cobra.Command) []shownSetting {
	var list []shownSetting
	for _, s := range a.settings.inFile {
		if len(s.Section) > 0 && slices.Equal(s.Section, namesOf(cmd)) && cmd.InheritedFlags().Lookup(s.Key) != nil {
			name := strings.Join(append(slices.Clip(s.Section), s.Key), " ")
			list = append(list, shownSetting{name, a.masked(s.Key, strings.Join(s.Values, ", ")), s.Place})
		}
	}
	return list
}

// masked is a value as it may be shown.
func (a *app) masked(flag, value string) string {
	switch flag {
	case "store":
		value = wire.Redact(value)
	case "bus":
		value = wire.RedactBus(value)
	}
	return a.redact(value)
}

func (a *app) showSettings(list []shownSetting) error {
	w := table(a.stdout)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.name, dash(printable(s.value)), s.from)
	}
	return w.Flush()
}

func (a *app) showSettingsJSON(list []shownSetting) error {
	array := newJSONArray(a.stdout)
	for _, s := range list {
		if err := array.add(object{{"setting", s.name}, {"value", s.value}, {"from", s.from}}); err != nil {
			return err
		}
	}
	return array.end("")
}
