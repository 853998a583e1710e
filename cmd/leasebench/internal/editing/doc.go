// Package editing measures edits of one document by many at once, in two styles.
//
// In the article's, each worker is a client of its own, and its loop is: acquire
// the lease, read, change, write, release. Whoever finds the lease held waits for
// a random time between 750 ms and 2,500 ms, or not at all, and asks again.
//
// In ours, the workers are goroutines that call [scope.Scope.Edit].
//
// Each edit adds one to a counter in the document, so that a lost one shows.
package editing
