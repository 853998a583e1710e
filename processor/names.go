package processor

import (
	"errors"
	"fmt"
	"strings"
)

// ErrName is matched when no stream or pipeline can have a name.
var ErrName = errors.New("invalid name")

// CheckName reports whether a stream or pipeline can have this name: up to 200
// letters, digits, dots, underscores and hyphens, beginning with a letter or
// digit.
func CheckName(name string) error {
	if !isName(name) {
		return fmt.Errorf("%w %q: want 1 to 200 letters, digits, . _ - beginning with a letter or digit", ErrName, name)
	}
	return nil
}

// isName is asked for each blob of each listing.
func isName(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}

const (
	streamPrefix = "streams/"
	streamSuffix = ".xml"
	workerPrefix = "workers/"
	// Beside a worker's blob lie its settings and its log.
	settingsSuffix = ".set"
	logSuffix      = ".log"
	archivePrefix  = "archive/"
	archiveMark    = "~"
	payloadPrefix  = "payload/"
	sweepLock      = "locks/sweep"
	pauseLock      = "locks/paused"
	// By its hash, the source of each pipeline that was started.
	definitionPrefix = "pipelines/"
)

// BlobOf is the blob of the run with the given name, or of one of its child
// streams, which are named by the run and the batch event: order-42/01.00.
func BlobOf(name string) string { return streamPrefix + name + streamSuffix }

// nameOf is the run whose blob has the given name; false for other blobs, those of
// child streams among them.
func nameOf(blob string) (string, bool) {
	name, ok := strings.CutPrefix(blob, streamPrefix)
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, streamSuffix)
	return name, ok && isName(name)
}

func workerBlob(id string) string   { return workerPrefix + id }
func settingsBlob(id string) string { return workerBlob(id) + settingsSuffix }
func logBlob(id string) string      { return workerBlob(id) + logSuffix }

// checkWorkerID reports whether a worker can have an ID: any name but those that
// could be taken for what lies beside a worker's blob.
func checkWorkerID(id string) error {
	if err := CheckName(id); err != nil {
		return fmt.Errorf("worker id: %w", err)
	}
	if _, ok := workerOf(workerBlob(id)); !ok {
		return fmt.Errorf("worker id: %w %q: it must not end in %s or %s", ErrName, id, settingsSuffix, logSuffix)
	}
	return nil
}

// workerOf is the worker whose blob has the given name; false for what lies
// beside it, and for names that no worker can have.
func workerOf(blob string) (id string, ok bool) {
	id, ok = strings.CutPrefix(blob, workerPrefix)
	return id, ok && isName(id) && !strings.HasSuffix(id, settingsSuffix) && !strings.HasSuffix(id, logSuffix)
}

// archivedName is the run whose archived blob has the given name; false for those
// of child streams.
func archivedName(blob string) (string, bool) {
	rest, ok := strings.CutPrefix(blob, archivePrefix)
	name, run, marked := strings.Cut(rest, archiveMark)
	return name, ok && marked && isName(name) && !strings.Contains(run, "/")
}

// runName is the run whose document has the given blob name.
func runName(blob string) (string, bool) {
	if name, ok := nameOf(blob); ok {
		return name, true
	}
	return archivedName(blob)
}

func payloadBlob(run, event, random, kind string) string {
	return fmt.Sprintf("%s%s/%s.%s.%s", payloadPrefix, run, event, random, kind)
}

// runOf is the run whose payload has the given name.
func runOf(blob string) (run string, ok bool) {
	rest, ok := strings.CutPrefix(blob, payloadPrefix)
	run, _, nested := strings.Cut(rest, "/")
	return run, ok && nested
}
