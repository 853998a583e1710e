// Package eventstream is the model of an Event-Stream: the XML document that
// holds the whole state of one run of a business process.
//
// Bytes go in, bytes come out. The package knows no storage, starts no goroutine
// and reads no clock; the time that is written is the one given to
// [Stream.Edit].
//
// # Events
//
// A run is a tree of events. An event waits (init), is handled or waits for its
// successors (inprocess), and ends (completed, aborted, canceled). A splitter ends
// in branches, each a thread of its own; when all branches have ended, the
// aggregator's event is created, in the edit that ended the last one, and so
// exactly once. An id names the thread and the step in it: 01.02 is step 2 of
// thread 01.
//
// # Edits
//
// A [Stream] is changed inside [Stream.Edit] only. An edit that fails is undone as
// a whole, at the cost of what it changed. A final status goes up through the
// stream by counters, never by looking at all events: it costs the same in a
// stream of ten events and in one of a hundred thousand.
//
// # Fidelity
//
// The document is scanned once, strictly, and an edit splices only what it
// changed: attributes, elements, comments and white space that we do not know
// survive byte for byte, in place. What XML cannot carry is refused when it is
// set; what is no Event-Stream is refused by [Parse], with line and column.
package eventstream
