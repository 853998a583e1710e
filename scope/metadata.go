package scope

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

const steerKey = "steer"

// maxMetadata is how many bytes of names and percent-encoded values a store takes.
const maxMetadata = 8 << 10

// tooManySteps stands for counts by step that do not fit; who reads it looks into
// the document.
const tooManySteps = "*"

// summaryKeys are the metadata that are a function of the document. What stands
// under other names is not ours and stays.
var summaryKeys = map[string]bool{
	"status": true, "progress": true, "ok": true, "failed": true, "ready": true, "running": true,
	"run": true, "pipeline": true, "definition": true, "input": true, "due": true, "deadline": true,
	"created": true, "updated": true, "witherror": true, "paused": true, "tags": true, "limits": true,
	"batches": true,
}

// metadata makes those of a commit from those that it replaces.
func metadata(before map[string]string, summary eventstream.Summary, steered int, entries []commitEntry) (map[string]string, error) {
	meta := summary.Metadata()
	for name, value := range before {
		if !summaryKeys[name] {
			meta[name] = value
		}
	}
	meta[steerKey] = strconv.FormatInt(steer(before, summary)+int64(steered), 10)
	meta[commitsKey] = formatCommits(entries)
	if metadataSize(meta) > maxMetadata {
		meta = maps.Clone(meta)
		meta["ready"], meta["running"] = tooManySteps, tooManySteps
	}
	if size := metadataSize(meta); size > maxMetadata {
		return nil, fmt.Errorf("%w: %d bytes of metadata, %d allowed: remove what others have put there", store.ErrTooLarge, size, maxMetadata)
	}
	return meta, nil
}

// steer is how many edits so far were such that workers must look. Where the
// count is missing, someone else has rewritten the metadata; it goes on from a
// number that nobody has seen.
func steer(before map[string]string, summary eventstream.Summary) int64 {
	n, err := strconv.ParseInt(before[steerKey], 10, 64)
	if err != nil {
		return summary.Updated.Unix()
	}
	return n
}

func metadataSize(meta map[string]string) int {
	size := 0
	for name, value := range meta {
		size += len(name) + len(url.PathEscape(value))
	}
	return size
}
