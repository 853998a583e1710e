package processor

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrName is matched when no stream or pipeline can have a name.
var ErrName = errors.New("invalid name")

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// CheckName reports whether a stream or pipeline can have this name: up to 200
// letters, digits, dots, underscores and hyphens, beginning with a letter or
// digit.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%w %q: want 1 to 200 letters, digits, . _ - beginning with a letter or digit", ErrName, name)
	}
	return nil
}

const (
	streamPrefix = "streams/"
	streamSuffix = ".xml"
	workerPrefix = "workers/"
	sweepLock    = "locks/sweep"
	pauseLock    = "locks/paused"
)

// BlobOf is the blob of the stream with the given name.
func BlobOf(name string) string { return streamPrefix + name + streamSuffix }

// nameOf is the stream whose blob has the given name; false for other blobs.
func nameOf(blob string) (string, bool) {
	name, ok := strings.CutPrefix(blob, streamPrefix)
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, streamSuffix)
	return name, ok && nameForm.MatchString(name)
}

func payloadBlob(run, event, random, kind string) string {
	return fmt.Sprintf("payload/%s/%s.%s.%s", run, event, random, kind)
}
