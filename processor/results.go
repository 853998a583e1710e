package processor

import "iter"

// SetResults makes the task an aggregator's, with these results. It is for tests
// of handlers and for callers that run handlers themselves.
func (t *Task) SetResults(results iter.Seq2[Result, error]) {
	t.Join, t.results = true, results
}
