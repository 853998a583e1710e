package rules

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a blob.
const (
	MaxName     = 1024       // characters
	MaxMetadata = 8 << 10    // bytes of names and percent-encoded values
	MaxBody     = 5000 << 20 // bytes
)

// CheckName checks the name of a blob. What a URL or its readers on the way
// would change is refused, so that a name means the same blob on every store.
func CheckName(name string) error {
	switch {
	case name == "":
		return Refuse("InvalidUri", "the name is empty")
	case !utf8.ValidString(name):
		return Refuse("InvalidUri", "the name is not valid UTF-8")
	case utf8.RuneCountInString(name) > MaxName:
		return Refuse("InvalidUri", "the name has over %d characters", MaxName)
	case strings.ContainsFunc(name, unprintable):
		return Refuse("InvalidUri", "the name has a control character or a backslash")
	case strings.HasSuffix(name, "/") || strings.HasSuffix(name, "."):
		return Refuse("InvalidUri", "the name ends in a slash or a dot")
	case dotSegment(name):
		return Refuse("InvalidUri", "the name has a segment . or ..")
	}
	return nil
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\\' || r == '\ufffe' || r == '\uffff'
}

func dotSegment(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// CheckMetadata checks names, values and the size of the metadata.
func CheckMetadata(m map[string]string) error {
	size := 0
	for name, value := range m {
		switch {
		case !identifier(name):
			return Refuse("InvalidMetadata", "metadata name %q is no lower-case ASCII identifier", name)
		case !utf8.ValidString(value):
			return Refuse("InvalidMetadata", "the value of metadata %q is not valid UTF-8", name)
		}
		size += len(name) + len(EncodeValue(value))
	}
	if size > MaxMetadata {
		return Refuse("MetadataTooLarge", "%d bytes of metadata, %d allowed", size, MaxMetadata)
	}
	return nil
}

// EncodeValue percent-encodes a metadata value for the wire.
func EncodeValue(value string) string { return url.PathEscape(value) }

func identifier(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// checkContentType refuses what cannot stand in a header line.
func checkContentType(t string) error {
	bad := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.ContainsFunc(t, bad) || strings.TrimSpace(t) != t {
		return Refuse("InvalidHeaderValue", "content type %q", t)
	}
	return nil
}

// checkBody refuses a body of size bytes over the limit.
func checkBody(size, limit int64) error {
	if size > limit {
		return Refuse("RequestBodyTooLarge", "%d bytes, %d allowed", size, limit)
	}
	return nil
}
