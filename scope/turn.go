package scope

import (
	"slices"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// turn is the place of a waiter among those who wait for the lease of the same
// stream, on a store where they can look. The metadata of the stream name the
// writers by when they last wrote, so that all know without a word whose turn it
// is: that of the one who has waited longest. Nothing but fairness depends on it;
// whoever asks out of turn gets the lease all the same.
type turn struct {
	s      *Scope
	etag   string    // at the last look
	moved  time.Time // when that was first seen
	passed bool      // the lease was free, and left to those ahead
	next   bool      // nobody who is known to wait is ahead
}

// recentTurn is for how many seconds one who has written counts as one who waits
// for the next turn.
const recentTurn = 2

// first is the place of one who has not written yet.
const first = -1

// ahead counts the writers whose turn comes before ours.
func (t *turn) ahead(info *store.Info) int {
	entries := parseCommits(info.Metadata[commitsKey])
	own := slices.IndexFunc(entries, func(e commitEntry) bool { return e.writer == t.s.set.writer })
	if own < 0 {
		return first
	}
	n := 0
	for _, e := range entries[own+1:] { // the newest comes first
		if entries[0].at-e.at <= recentTurn {
			n++
		}
	}
	return n
}

// quickLook times PollMin is how soon the next in line looks again. For that long,
// and once more for each one ahead, the others leave a lease that they find free.
const quickLook = 4

// come reports whether it is time to ask for the lease; if not, when to look again.
func (t *turn) come(info *store.Info, free bool) (now bool, again waits) {
	poll := t.s.set.poll
	ahead, quick := t.ahead(info), min(quickLook*poll.min, poll.max)
	t.next = ahead <= 0
	if free {
		now, t.passed = t.passed || ahead <= 0, true
		pass := min(time.Duration(1+ahead)*quick, poll.max)
		return now, waits{min: pass, max: pass}
	}
	t.passed = false
	if info.ETag != t.etag {
		t.etag, t.moved = info.ETag, time.Now()
	}
	switch {
	case ahead > 0 || time.Since(t.moved) > longHold*t.s.set.maxHold:
		quick = poll.max
	case ahead == first: // others do not know of it
		quick /= 2
	}
	return false, waits{min: poll.min, max: quick, flat: true}
}
