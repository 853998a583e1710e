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
// # Workers
//
// A worker holds the lease of a small blob of its own, workers/ID, as long as it
// lives. If it dies, its lease runs out — at once, where the store tells that the
// process is gone — and the sweep, which one worker of the container does for all,
// puts its events back to init. A worker that was only slow finds its outcome
// refused.
//
// A worker touches only runs whose definition it was given. How many handlers it
// runs at a time can be changed while it works ([Processor.SetSlots]), and so can
// how many of one step all workers run together in a run ([Processor.SetLimit]).
// [Processor.Roster] tells what waits for a worker that is not there.
package processor
