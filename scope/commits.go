package scope

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The metadata of a stream have the last commit number of each writer, so that a
// writer whose upload was not answered finds out what became of it, even if others
// have written since: w1:18:T w2:4:T, T being the store's time in seconds. An entry
// is dropped only when it is an hour old or 64 newer ones are there, both far more
// than the time for which anybody looks for his own.
const (
	commitsKey  = "commits"
	runKey      = "run"
	maxCommits  = 64
	keepCommits = time.Hour
)

// commitEntry is the last commit of one writer.
type commitEntry struct {
	writer string
	number int64
	at     int64 // store time in seconds
}

// parseCommits reads the metadata; what is not of the form is passed over.
func parseCommits(text string) []commitEntry {
	var entries []commitEntry
	for field := range strings.FieldsSeq(text) {
		parts := strings.Split(field, ":")
		if len(parts) != 3 {
			continue
		}
		number, err := strconv.ParseInt(parts[1], 10, 64)
		at, err2 := strconv.ParseInt(parts[2], 10, 64)
		if err == nil && err2 == nil {
			entries = append(entries, commitEntry{parts[0], number, at})
		}
	}
	return entries
}

func formatCommits(entries []commitEntry) string {
	var b strings.Builder
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.writer + ":" + strconv.FormatInt(e.number, 10) + ":" + strconv.FormatInt(e.at, 10))
	}
	return b.String()
}

// numberOf returns the last commit number of a writer; 0 if it has no entry.
func numberOf(entries []commitEntry, writer string) int64 {
	for _, e := range entries {
		if e.writer == writer {
			return e.number
		}
	}
	return 0
}

// withCommit returns the entries, newest first, with those of a writer brought up
// to date and the old ones dropped.
func withCommit(entries []commitEntry, own commitEntry) []commitEntry {
	kept := []commitEntry{own}
	for _, e := range entries {
		if e.writer != own.writer && own.at-e.at < int64(keepCommits/time.Second) {
			kept = append(kept, e)
		}
	}
	slices.SortStableFunc(kept[1:], func(a, b commitEntry) int { return cmp.Compare(b.at, a.at) })
	return kept[:min(len(kept), maxCommits)]
}

// finding is what the metadata of a blob that was changed tell of a commit.
type finding int

const (
	absent    finding = iota // it did not take effect, and cannot any more
	present                  // it took effect
	ambiguous                // the metadata do not tell
)

// findCommit looks for a commit in the metadata of a blob whose ETag is another
// one than that which the commit was to replace.
func findCommit(meta map[string]string, p *pending) finding {
	text, ours := meta[commitsKey]
	entries := parseCommits(text)
	number := numberOf(entries, p.own.writer)
	switch {
	case !ours || meta[runKey] != p.meta[runKey]:
		return ambiguous // someone else rewrote the blob, or put another run in its place
	case number >= p.own.number:
		return present
	case number == 0 && len(entries) >= maxCommits || lostEntries(p.before, entries, p.own.at):
		return ambiguous // entries were dropped since, and ours may have been one of them
	}
	return absent
}

// lostEntries reports whether an entry of before is gone although it was not yet
// old at the time now.
func lostEntries(before, entries []commitEntry, now int64) bool {
	const young = int64(keepCommits/time.Second) / 2
	for _, e := range before {
		if now-e.at < young && numberOf(entries, e.writer) < e.number {
			return len(entries) < maxCommits || e.at > entries[len(entries)-1].at
		}
	}
	return false
}
