package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/eventstream"
)

// tags is the value of a flag that takes a tag and may be repeated.
type tags struct {
	values map[string]string
	filter bool // KEY alone is fine, for any value
}

var _ pflag.Value = (*tags)(nil)

// addTags adds --tag for what a run is started with.
func addTags(cmd *cobra.Command, t *tags) {
	cmd.Flags().Var(t, "tag", "give the run a tag, by which ls and purge find it; may be repeated")
}

// addTagFilter adds --tag for what runs are chosen by.
func addTagFilter(cmd *cobra.Command, t *tags) {
	t.filter = true
	cmd.Flags().Var(t, "tag", "only runs with this tag, or with any value of it; may be repeated: all have to fit")
}

func (t *tags) String() string { return shownTags(t.values) }

// Type is what the help calls the value.
func (t *tags) Type() string {
	if t.filter {
		return "KEY[=VALUE]"
	}
	return "KEY=VALUE"
}

// Set adds a tag.
func (t *tags) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok && !t.filter {
		return errors.New("want KEY=VALUE")
	}
	if _, twice := t.values[key]; twice {
		return fmt.Errorf("tag %q is given twice", key)
	}
	all := maps.Clone(t.values)
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	if err := eventstream.CheckTags(all); err != nil {
		return err
	}
	t.values = all
	return nil
}

// shownTags are tags as a person reads them, by key; "" for none.
func shownTags(tags map[string]string) string {
	shown := make([]string, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		shown = append(shown, key+"="+tags[key])
	}
	return strings.Join(shown, ", ")
}

// tagsJSON is an object even if there are no tags.
func tagsJSON(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}
