// Package processor runs pipelines over Event-Streams: it starts runs, claims
// events, calls their handlers and writes the outcomes, on any number of workers
// that share nothing but a container.
//
// # Pipelines
//
// A [Pipeline] is a set of named steps, each with a [Handler]. What comes next is
// what the handler says at run time: [Complete] ends the branch, [Next] hands on,
// [Split] ends in branches that [Outcome.Join] brings together in an aggregator,
// [Wait] leaves the event to someone outside, [Abort] ends it as failed. An error
// is a failed attempt, repeated as the step's [Retry] says.
//
// # What happens to an event
//
// Each line is a point where a worker may die, and none of them loses or doubles
// anything:
//
//  1. A doorbell or a poll finds the event.
//  2. An edit claims it: init becomes inprocess, key names the worker, attempt
//     grows by one.
//  3. The handler runs. Its context ends with the claim: on cancel, timeout, loss
//     of the worker's lease, shutdown.
//  4. Payloads over 4 KiB are written to blobs of their own.
//  5. An edit writes the outcome, guarded by run, id, key and attempt, together
//     with the new events and all that follows for the events above. The same edit
//     claims the next event for the slot.
//  6. Doorbells ring for the events that the edit created.
//
// Handlers run at least once; what they do to the stream happens exactly once.
// The aggregator's event is created by the edit that ends the last branch, and so
// exists exactly once, whoever that is. [Task.Key] is for effects elsewhere that
// must not happen twice.
//
// # Payloads
//
// Inputs, outputs and messages are JSON. One of over 4 KiB lies in a blob of its
// own, and the document has its name, size and hash, which are checked when it is
// read. [MaxPayload] and [MaxOutcome] are limits: what is over them is refused by
// name, and then nothing of it is written and no attempt follows.
//
// # Wide splits
//
// A document has one writer at a time, and on a store that keeps whole bodies each
// commit writes all of it. So a split over 1,000 branches or 1 MiB of messages is divided
// into parts. The document gets one batch event for each part,
// which counts as so many branches, and the branches live in a child stream,
// streams/NAME/ID.xml, with a splitter of their own as the root. Children may split
// widely again. Each line is, again, a point where a worker may die:
//
//  1. The messages of each part are written to a payload. They are read one by one
//     if they come from a sequence, as those of [SplitSeq] do. Payloads of an
//     attempt that comes to nothing are garbage.
//  2. The edit of the outcome appends the batch events in place of branches.
//  3. A worker claims a batch event, like any other.
//  4. Messages over 4 KiB get payloads of their own. The child is created with all
//     its branches in one write, if there is none; the attempt of the batch event
//     stands on its root element.
//  5. A child that is there already gets this attempt by an edit, which also
//     reopens what a retry asks for. One that has ended, and is not to be reopened,
//     is reported at once. One in the archive comes back if it has to be open.
//  6. The outcome leaves the batch event waiting.
//  7. Workers run the branches of the child, as those of any stream. Its split
//     waits for all of them, or ends with the first failure if the wide split is
//     to.
//  8. Somebody's edit ends the child.
//  9. Whoever that is edits the parent: the batch event ends as the child did, with
//     the numbers of branches that ended well and badly. The edit is refused if the
//     batch event is not open for the attempt that the child has: then somebody has
//     taken the child over, and reports himself.
//  10. The edit that ends the last batch event creates the aggregator's. Its results
//     are read child by child.
//
// What is steered goes from the top downwards: first the parent changes, then
// whoever changed it cancels, pauses and resumes the children of the batch events
// concerned. A cancel names the attempt that it is for, so that one that comes late
// does not meet a child that a retry has reopened. A retry of something in a child
// puts the batch event back to init, with what is asked of the child in its Cursor,
// and whoever claims it carries that out at 5; the attribute reopened, which counts
// retries, sees to it that this happens once.
//
// The sweep makes up for whoever died in between: it compares documents with their
// children, lets what is missing be made again, reports what has ended, cancels
// what is open below something that is not, and makes pauses agree. It also adds
// up the branches in children that go on, and ends the split when its policy,
// first or tolerate, is decided.
//
// A run stays one run: it is listed with its children summed up, and is archived
// and purged with them. A branch is addressed by its batch event and its own id,
// 01.00/05.00, which is also the Event of its tasks and the ID of its results.
//
// # Workers
//
// A worker holds the lease of a small blob of its own, workers/ID, as long as it
// lives. If it dies, its lease runs out — at once, where the store tells that the
// process is gone — and the sweep, which one worker of the container does for all,
// puts its events back to init. A worker that was only slow finds its outcome
// refused.
//
// An event that has ended runs again if somebody sets its status to init in the
// document, with its retries anew, as by [Processor.Retry]. That shows by what its
// end has left: key, started or msg. Whoever takes away all three has to take away
// failures too.
//
// A worker touches only runs whose definition it was given. How many handlers it
// runs at a time can be changed while it works ([Processor.SetSlots]), and so can
// how many of one step all workers run together in a run ([Processor.SetLimit]).
// [Processor.Roster] tells what waits for a worker that is not there.
package processor
