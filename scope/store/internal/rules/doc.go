// Package rules is what a blob store decides, as pure functions of what it
// keeps, what it is asked and what time it is. A driver that does the deciding
// itself (memstore, sqlitestore) loads a [Blob], asks this package, and writes
// down the answer, all in one critical section; a driver whose service decides
// uses the checks of requests only.
//
// The tables of Azure's documentation are followed with Azure's error codes.
// Every refusal is a [*store.Error] with code and sentinel; the driver adds the
// operation and the name with [Fail].
//
// # Order
//
// A request is judged in this order, and the first refusal is the answer: its
// form (names, GUIDs, durations, combinations of conditions), the container,
// the lease ID of a write, the blob's existence, the lease ID of a read, the
// conditions, and for a lease operation the state of the lease. The service
// publishes no order but for one pair, which is kept: a create-only write on a
// leased blob misses its lease ID before it finds that the blob exists.
package rules
