package processor

import "slices"

// turns remembers when runs had their turn, so that one with many child streams
// does not get more of them than others. The zero value is ready; it belongs to
// one goroutine.
type turns struct {
	now  int
	last map[string]int // :: run → its last turn
}

// next takes the document out of a queue whose run has waited longest, the first
// one of several.
func (t *turns) next(queue []string) (doc string, rest []string) {
	if t.last == nil {
		t.last = map[string]int{}
	}
	at := 0
	for i, doc := range queue {
		if t.last[runNameOf(doc)] < t.last[runNameOf(queue[at])] {
			at = i
		}
	}
	doc = queue[at]
	t.now++
	t.last[runNameOf(doc)] = t.now
	if len(queue) == 1 {
		clear(t.last) // nobody waits
	}
	return doc, slices.Delete(queue, at, at+1)
}

// spread orders the documents of each run by a place of this worker's own, so that
// workers that share a run with many child streams do not all begin with the same.
func (w *worker) spread(docs []string) []string {
	var spread []string
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && runNameOf(docs[n]) == runNameOf(docs[0]) {
			n++
		}
		at := w.place(n)
		spread = append(append(spread, docs[at:n]...), docs[:at]...)
		docs = docs[n:]
	}
	return spread
}

// isOtherRun reports whether two documents belong to different runs.
func isOtherRun(a, b string) bool { return runNameOf(a) != runNameOf(b) }
