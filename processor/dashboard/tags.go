package dashboard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// tagsOf reads tags as one types them: KEY=VALUE, or KEY alone for an empty or any
// value, parted by spaces or commas.
func tagsOf(text string) map[string]string {
	tags := map[string]string{}
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }) {
		key, value, _ := strings.Cut(field, "=")
		tags[key] = value
	}
	return tags
}

// formTags are the tags of a form that a run is started with.
func formTags(text string) (map[string]string, error) {
	tags := tagsOf(text)
	if err := eventstream.CheckTags(tags); err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	return tags, nil
}

// shownTags are tags by key.
func shownTags(tags map[string]string) []string {
	shown := make([]string, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		shown = append(shown, strings.TrimSuffix(key+"="+tags[key], "="))
	}
	return shown
}

// haveTags reports whether tags have all that are wanted; "" stands for any value.
func haveTags(tags, wanted map[string]string) bool {
	for key, value := range wanted {
		if has, ok := tags[key]; !ok || value != "" && value != has {
			return false
		}
	}
	return true
}
