package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/cmd/internal/config"
)

// fixed are the flags that only a command line can give.
var fixed = []string{"help", "version"}

// environmentName is the variable that stands for a flag.
func environmentName(flag string) string {
	return "LEASESTREAM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settings are what the environment and the configuration file say.
type settings struct {
	getenv func(string) string
	file   string // the configuration file; "" for none
	inFile []config.Setting
}

// setting is a value and where it comes from.
type setting struct {
	values []string
	from   string
}

const (
	fromCommandLine = "command line"
	fromDefault     = "default"
	fromEnvironment = " in the environment"
)

// of is what is said about a flag of the command with these names: by the
// environment, or else by the file, in the section nearest to the command.
func (s *settings) of(command []string, flag string) (setting, bool) {
	if value := s.getenv(environmentName(flag)); value != "" {
		return setting{[]string{value}, environmentName(flag) + fromEnvironment}, true
	}
	var found config.Setting
	for _, candidate := range s.inFile {
		depth := len(candidate.Section)
		if candidate.Key == flag && depth <= len(command) && slices.Equal(candidate.Section, command[:depth]) &&
			(found.Key == "" || depth > len(found.Section)) {
			found = candidate
		}
	}
	return setting{found.Values, found.Place}, found.Key != ""
}

// apply sets the flags of a command that the command line does not give.
func (s *settings) apply(cmd *cobra.Command) error {
	var wrong error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if wrong != nil || f.Changed || slices.Contains(fixed, f.Name) {
			return
		}
		if said, ok := s.of(namesOf(cmd), f.Name); ok {
			wrong = said.set(cmd.Flags(), f.Name)
		}
	})
	return wrong
}

func (s setting) set(flags *pflag.FlagSet, name string) error {
	for _, value := range s.values {
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("%s: %w", s.from, flagError(err))
		}
	}
	return nil
}

// namesOf are the names of a command, without that of the program.
func namesOf(cmd *cobra.Command) []string { return strings.Fields(cmd.CommandPath())[1:] }

// maxConfig is the largest configuration file, in bytes.
const maxConfig = 1 << 20

// readSettings finds and reads the configuration file: the one that is named, or
// else the one in the user's folder of configuration, if it is there. A file that
// only lies in the current folder is none of ours: whoever puts it there could
// send the work elsewhere.
func (a *app) readSettings(cmd *cobra.Command) (*settings, error) {
	s := &settings{getenv: a.getenv, file: a.configFile}
	flag := cmd.Flags().Lookup("config")
	named := flag.Changed
	if !named {
		s.file = a.getenv(environmentName("config"))
		named = s.file != ""
	}
	if !named {
		s.file = userConfig(a.getenv)
	}
	if s.file == "" {
		return s, nil
	}
	source, err := readAtMost(s.file, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		s.file = ""
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	s.inFile, err = config.Parse(s.file, source, schemaOf(cmd.Root(), nil))
	return s, err
}

// userConfig is where the configuration file lies if nobody names one; "" if there
// is no such place.
func userConfig(getenv func(string) string) string {
	var folder string
	switch home := getenv("HOME"); {
	case runtime.GOOS == "windows":
		folder = getenv("AppData")
	case runtime.GOOS == "darwin" && home != "":
		folder = filepath.Join(home, "Library", "Application Support")
	case getenv("XDG_CONFIG_HOME") != "":
		folder = getenv("XDG_CONFIG_HOME")
	case home != "":
		folder = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(folder) {
		return ""
	}
	return filepath.Join(folder, "leasestream", "config.yaml")
}

// schemaOf is what the file may say about a command and those below it.
func schemaOf(cmd *cobra.Command, common []string) *config.Schema {
	schema := &config.Schema{Keys: common, Sections: map[string]*config.Schema{}}
	if !cmd.HasParent() {
		common = keysOf(cmd.PersistentFlags())
		schema.Keys = common
	} else {
		schema.Keys = slices.Concat(keysOf(cmd.LocalNonPersistentFlags()), common)
	}
	for _, sub := range cmd.Commands() {
		schema.Sections[sub.Name()] = schemaOf(sub, common)
	}
	return schema
}

// keysOf are the flags that a file may set: not the one that names the file.
func keysOf(flags *pflag.FlagSet) []string {
	var keys []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "config" && !slices.Contains(fixed, f.Name) {
			keys = append(keys, f.Name)
		}
	})
	return keys
}
