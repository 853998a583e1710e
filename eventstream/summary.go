package eventstream

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Summary is what the metadata of a stream's blob tell without reading it. It is
// a cache: it may only decide that there is nothing to do.
type Summary struct {
	Run        string
	Pipeline   string
	Definition string
	Input      string // hash of the input at start
	Status     Status
	WithError  bool
	Done       int // events that have ended
	Total      int
	OK, Failed int // branches of the root thread's last split
	// Batch events, which stand for branches in child streams: all, and those that
	// have ended. They are among the events that Done and Total count.
	Batches, BatchesDone int
	Ready                map[string]int // events in init, not delayed, by step; nil: unknown
	Running              map[string]int // events that workers handle, by step; nil: unknown
	Limits               map[string]int // of Running, where they were changed, by step; 0: no limit; nil: unknown
	Due                  time.Time      // earliest due time or timeout; zero: none
	Deadline             time.Time      // of the run; zero: none
	Paused               bool
	Tags                 map[string]string // nil: none
	Created              time.Time
	Updated              time.Time
}

// Summary sums the stream up, from the indexes.
func (s *Stream) Summary() Summary {
	p := s.Progress()
	sum := Summary{
		Run: s.Run(), Pipeline: s.Attr("pipeline"), Definition: s.Attr("definition"), Input: s.Attr("input"),
		Done: p.Done(), Total: p.Total, Paused: s.pausedRun, Due: s.NextWake(),
		Deadline: parseOptional(s.Attr("deadline")), Tags: s.Tags(), Updated: s.now,
		Ready: map[string]int{}, Running: map[string]int{}, Limits: s.Limits(),
	}
	sum.Status, sum.WithError = s.Status()
	for e := range s.Batches() {
		sum.Batches++
		if e.status.Final() {
			sum.BatchesDone++
		}
	}
	for _, t := range s.topics {
		if t.ready > 0 {
			sum.Ready[t.name] = t.ready
		}
		if t.running > 0 {
			sum.Running[t.name] = t.running
		}
	}
	if s.root != nil {
		sum.Created = s.root.Time("created")
		_, sum.OK, sum.Failed = s.lastSplit().Tally()
	}
	return sum
}

// lastSplit is the last splitter of the root thread, or its first event where
// there is none.
func (s *Stream) lastSplit() *Event {
	e := s.Last()
	for e.tally.branches == 0 && e.prev != nil {
		e = e.prev
	}
	return e
}

// maxCounts and maxLimits bound the counts by step in the metadata, which Azure
// limits to 8 KiB in all.
const (
	maxCounts = 2 << 10
	maxLimits = 512
)

// Metadata is the summary as it stands with the blob.
func (sum Summary) Metadata() map[string]string {
	meta := map[string]string{
		"status":   sum.Status.String(),
		"progress": fmt.Sprintf("%d/%d", sum.Done, sum.Total),
		"ok":       strconv.Itoa(sum.OK),
		"failed":   strconv.Itoa(sum.Failed),
		"ready":    formatCounts(sum.Ready, maxCounts),
		"running":  formatCounts(sum.Running, maxCounts),
		"limits":   formatCounts(sum.Limits, maxLimits),
		"run":      sum.Run,
		"pipeline": sum.Pipeline, "definition": sum.Definition, "input": sum.Input,
		"tags": formatTags(sum.Tags),
		"due":  formatOptional(sum.Due), "deadline": formatOptional(sum.Deadline),
		"created": formatOptional(sum.Created), "updated": formatOptional(sum.Updated),
	}
	if sum.WithError {
		meta["witherror"] = "true"
	}
	if sum.Paused {
		meta["paused"] = "true"
	}
	if sum.Batches > 0 {
		meta["batches"] = fmt.Sprintf("%d/%d", sum.BatchesDone, sum.Batches)
	}
	for name, value := range meta {
		if value == "" {
			delete(meta, name)
		}
	}
	return meta
}

// ParseSummary reads the metadata of a stream's blob; false if they are not
// ours, or not whole: then the blob has to be read.
func ParseSummary(meta map[string]string) (Summary, bool) {
	sum := Summary{
		Run: meta["run"], Pipeline: meta["pipeline"], Definition: meta["definition"], Input: meta["input"],
		WithError: meta["witherror"] == "true", Paused: meta["paused"] == "true",
		Tags: parseTags(meta["tags"]), Due: parseOptional(meta["due"]), Deadline: parseOptional(meta["deadline"]),
		Created: parseOptional(meta["created"]), Updated: parseOptional(meta["updated"]),
	}
	status, err := ParseStatus(meta["status"])
	if err != nil {
		return Summary{}, false
	}
	sum.Status = status
	done, total, _ := strings.Cut(meta["progress"], "/")
	batchesDone, batches, _ := strings.Cut(cmp.Or(meta["batches"], "0/0"), "/")
	for _, count := range []struct {
		to   *int
		text string
	}{
		{&sum.Done, done}, {&sum.Total, total}, {&sum.OK, meta["ok"]}, {&sum.Failed, meta["failed"]},
		{&sum.BatchesDone, batchesDone}, {&sum.Batches, batches},
	} {
		if *count.to, err = strconv.Atoi(count.text); err != nil {
			return Summary{}, false
		}
	}
	sum.Ready, sum.Running = parseCounts(meta["ready"]), parseCounts(meta["running"])
	sum.Limits = parseCounts(meta["limits"])
	return sum, true
}

// tooMany stands for counts that did not fit.
const tooMany = "*"

func formatCounts(counts map[string]int, longest int) string {
	if text := encodeCounts(counts); len(text) <= longest {
		return text
	}
	return tooMany
}

func parseCounts(text string) map[string]int {
	values, err := url.ParseQuery(text)
	if err != nil || text == tooMany {
		return nil
	}
	counts := make(map[string]int, len(values))
	for name := range values {
		n, err := strconv.Atoi(values.Get(name))
		if err != nil {
			return nil
		}
		counts[name] = n
	}
	return counts
}
