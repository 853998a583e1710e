package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each example is one of its own command, and names only flags that it has.
func TestExamples(t *testing.T) {
	a := &app{getenv: os.Getenv}
	root := a.root()
	for names, example := range examples {
		cmd, rest, err := root.Find(strings.Fields(names))
		if err != nil || len(rest) > 0 {
			t.Errorf("there is no command %q to have an example", names)
			continue
		}
		for line := range strings.Lines(example) {
			_, call, ok := strings.Cut(line, "leasestream "+names)
			if !ok {
				t.Errorf("the example %q is none of leasestream %s", line, names)
			}
			checkFlags(t, cmd, call)
		}
	}
}

func checkFlags(t *testing.T, cmd *cobra.Command, call string) {
	t.Helper()
	call, _, _ = strings.Cut(call, " -- ")
	for word := range strings.FieldsSeq(call) {
		name, isFlag := strings.CutPrefix(word, "--")
		if isFlag && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
			t.Errorf("the example of %s has a flag --%s that there is not", cmd.CommandPath(), name)
		}
	}
}

// Whoever steers a run does so in haste, and copies what is shown.
func TestExamples_OfSteering(t *testing.T) {
	have := []string{"abort", "cancel", "complete", "pause", "resume", "retry", "skip"}
	have = slices.DeleteFunc(have, func(name string) bool { return examples[name] != "" })
	if len(have) > 0 {
		t.Errorf("commands without an example: %q", have)
	}
}
