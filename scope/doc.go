// Package scope changes blobs under a lease: one holder at a time, over any number
// of processes and machines, with nothing but a store that has Azure's leases.
//
// There are three ways to use it, each built on the one before:
//
//   - [Scope.Hold] gets a lease and keeps it until it is released or lost;
//     [Keeper] does so for many blobs.
//   - [Scope.Run] is the LeaseScope: it waits for the lease of a blob, runs a
//     function while it is kept, and releases it whichever way the function ends.
//   - [Scope.Edit] is the LeaseScope around an Event-Stream: download, change,
//     upload. Edits of one stream that come together share all three.
//
// [Scope.Create] and [Scope.Read] need no lease.
//
// # The life of a lease
//
//	           acquire, with a fresh ID
//	waiting ──────────────────────────────▶ held ◀──┐ renewed: trusted anew
//	   │  ▲                                 │ │ └───┘ unknown: tried again
//	   │  └─ refused: pause, look, ask      │ │
//	   ▼                                    │ └─ refused (409, 412, 404), or not
//	given up: *HeldError                    │    renewed within the trust window
//	                                release │                │
//	                                        ▼                ▼
//	                                     released          lost, for good
//
// An acquire that is not answered is repeated with the same ID, which finds the
// lease if it was granted; if the caller gives up, it is released on suspicion. A
// lease that is lost stays so, even if the store should renew it later: whoever
// needs one again gets another, with another ID.
//
// # The trust window
//
// A holder must know when it has lost a lease without being told: the network may
// be down, the process may have been stopped, the machine may have slept. So a
// lease is trusted only until
//
//	start of the last request that granted it + duration − margin
//
// where start is taken before the request was sent, so that a slow answer cannot
// stretch it, and both the monotonic and the wall clock must lie before that time:
// the one cannot be set, the other goes on while the machine sleeps. Renewals
// begin after a third of the duration and go on, each with a time limit of its own,
// until the end of the window. The margin is a fifth of the duration, at least 2 s;
// one that is shorter than a single request may take is refused, and so is any
// other combination that cannot hold.
//
// The window is a courtesy to the holder: it ends work early that would be in vain.
// What keeps two holders from writing is the store: every write names the lease ID
// and the ETag of what it replaces.
//
// # The order of a commit
//
// Each number is a point where the process may die, or a request may fail, or be
// carried out and not answered; the tests do all three at each of them.
//
//  1. Acquire. The lease of a process that dies here or later runs out; on a local
//     store a waiter on the same machine sees that its holder is dead and breaks it
//     at once.
//  2. Read the document, unless it is in memory as of the ETag that the acquire
//     returned. A document that cannot be read ends the edits; nothing is ever
//     written over it.
//  3. Run the edits that wait, in the order they came, each rolled back alone if it
//     fails.
//  4. Put: the document, its summary and a commit number as metadata, in one atomic
//     write. Before, none of the edits has happened; after, all have.
//  5. Tell the callers.
//  6. While more edits wait and less than MaxHold has passed since the document was
//     read, go on at 3; otherwise release, and pause before the next acquire, so
//     that others get their turn. Where nobody else has written in between, the
//     lease is kept twice as long the next time, up to five times MaxHold, and where
//     it took long to read the document, twice in a row, for up to as long.
//
// If the Put is not answered, the commit number tells what became of it, even if
// another holder has written since. The same bytes are sent again only as long as
// the ETag shows that nothing has taken effect, so that whichever of two Puts comes
// second is refused; edits are run again only when it is certain that no Put of
// theirs can take effect any more.
//
// # What is promised
//
//   - At most one holder of a lease can write, however late or slow another one is.
//   - An Edit that returned without an error is durable and was applied exactly once.
//   - An Edit that returned an error was not applied, unless the error matches
//     [ErrOutcomeUnknown]. That is told when the caller's context ended after its
//     function had run, before the upload was answered; when the store did not
//     answer for as long as Options.GiveUp; and when somebody deleted or replaced
//     the blob, or its metadata, meanwhile.
//   - What the functions of edits saw, also those that failed or changed nothing,
//     was durable when their Edit returned.
//   - A lease is released on every way out, and Close leaves no goroutine behind.
//
// # What is not
//
//   - That a function does not run while its lease is lost: Go cannot stop it. Its
//     context ends, and the store refuses what it writes under the lease. Effects
//     elsewhere need a fence of their own.
//   - That an edit's function runs once. It is applied once.
//   - Order or fairness between processes on a remote store beyond what chance and
//     the pauses give. On a local store those who share a stream take turns, which
//     they read off the metadata, as long as they look often enough.
//   - Anything against those who write with the ID of somebody else's lease, or
//     break leases of living holders. What they do to a document is noticed
//     (Stats.Bypassed) and never overwritten.
//   - That a blob stays away which is deleted while a request to create it is under
//     way: Create and the option to make an empty blob ask for it only if there is
//     none, and after the deletion there is none.
//   - That a lease which was granted by a delayed request, after its holder had given
//     up, is released: it runs out.
package scope
