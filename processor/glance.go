package processor

import (
	"strconv"
	"strings"

	"github.com/leasestream/leasestream/scope/store"
)

// glance is what a listing shows of a stream that this worker has run something of.
type glance struct {
	etag, run, steer, commits string
}

func glanceAt(blob *store.Info) glance {
	return glance{blob.ETag, blob.Metadata["run"], blob.Metadata["steer"], blob.Metadata["commits"]}
}

// calls reports whether the stream has to be read, since an event may have been
// taken away from whoever runs it, or given to this worker without its knowledge:
// somebody steered, it is another run, or a foreign hand wrote, which leaves no
// metadata, those that were there, or those of an older copy.
func (g glance) calls(before glance) bool {
	return g.etag != before.etag &&
		(g.run == "" || g.run != before.run || g.steer != before.steer || g.commits == before.commits || g.wentBack(before))
}

// wentBack reports whether a writer has a lower commit number than before.
func (g glance) wentBack(before glance) bool {
	numbers := commitNumbers(before.commits)
	for writer, n := range commitNumbers(g.commits) {
		if n < numbers[writer] {
			return true
		}
	}
	return false
}

// commitNumbers reads the last commit number of each writer from the metadata that
// package scope leaves: WRITER:NUMBER:TIME and so on. What cannot be read is left
// out.
func commitNumbers(commits string) map[string]int64 {
	numbers := map[string]int64{}
	for entry := range strings.FieldsSeq(commits) {
		writer, rest, _ := strings.Cut(entry, ":")
		number, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			numbers[writer] = n
		}
	}
	return numbers
}
