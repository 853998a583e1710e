package eventstream

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// ErrTag is matched when a run cannot have a tag.
var ErrTag = errors.New("invalid tag")

const (
	// MaxTags is how many tags a run can have.
	MaxTags = 16
	// MaxTagValue is the length of the longest value of a tag, in bytes.
	MaxTagValue = 256
	// maxTagsText bounds all tags together, in bytes as metadata are sent: a quarter
	// of what Azure allows, since the commits of 64 writers stand there too.
	maxTagsText = 2 << 10
)

var tagKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// CheckTags reports the first of the tags, by key, that a run cannot have, as an
// error that matches [ErrTag]. A key is 1 to 63 letters, digits, dots, underscores
// and hyphens, beginning with a letter or digit; a value is up to [MaxTagValue]
// bytes of printable UTF-8, and may be empty. There are at most [MaxTags], of 2 KiB
// in all when they are escaped.
func CheckTags(tags map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := checkTag(key, tags[key]); err != nil {
			return err
		}
	}
	if len(tags) > MaxTags {
		return fmt.Errorf("%w: there are %d tags, the limit is %d", ErrTag, len(tags), MaxTags)
	}
	if size := len(url.PathEscape(formatTags(tags))); size > maxTagsText {
		return fmt.Errorf("%w: all tags together have %d bytes when they are escaped, the limit is %d", ErrTag, size, maxTagsText)
	}
	return nil
}

func checkTag(key, value string) error {
	switch {
	case !tagKey.MatchString(key):
		return fmt.Errorf("%w: key %.80q: want 1 to 63 letters, digits, . _ - beginning with a letter or digit", ErrTag, key)
	case len(value) > MaxTagValue:
		return fmt.Errorf("%w: the value of %q has %d bytes, the limit is %d", ErrTag, key, len(value), MaxTagValue)
	}
	for i, r := range value {
		if _, n := utf8.DecodeRuneInString(value[i:]); !unicode.IsPrint(r) || r == utf8.RuneError && n == 1 {
			return fmt.Errorf("%w: the value of %q has a character that cannot be printed: %q", ErrTag, key, value)
		}
	}
	return nil
}

// formatTags is the attribute: sorted by key, k=v&k2=v2, escaped as in a query.
func formatTags(tags map[string]string) string {
	values := url.Values{}
	for key, value := range tags {
		values.Set(key, value)
	}
	return values.Encode()
}

// parseTags reads the attribute. If a foreign hand has written what CheckTags
// refuses, there are no tags: the metadata might not take it.
func parseTags(text string) map[string]string {
	if text == "" {
		return nil
	}
	values, err := url.ParseQuery(text)
	if err != nil || len(values) == 0 {
		return nil
	}
	tags := make(map[string]string, len(values))
	for key, all := range values {
		if len(all) != 1 {
			return nil
		}
		tags[key] = all[0]
	}
	if CheckTags(tags) != nil {
		return nil
	}
	return tags
}

// Tags are the tags that the run was started with; nil if it has none.
func (s *Stream) Tags() map[string]string { return parseTags(s.Attr("tags")) }
