// Package sqlitestore is the embedded store: one SQLite file, which any number
// of processes on one machine may use at once.
//
// # Durability
//
// The file is in WAL mode. A Create, Put or Delete is on the disk when it
// returns, and so is every operation on an infinite lease. An operation on a
// finite lease is in the file at once, seen by all processes and safe from the
// death of any of them, but is left to the next commit to reach the disk: after
// a power cut there is no holder left for whom it would matter, and the lease
// ends by itself. Nothing that was synced is lost with it, since the log keeps
// its order.
//
// A process that is killed leaves a complete file; the next one to open it
// repairs the log by itself. The file's companions (the same name with -wal and
// -shm) belong to it until the last process has closed it: copy or move all
// three or none.
//
// # Concurrency
//
// The check of a request and its effect are one transaction, across processes.
// Inside a process writers wait in line; between processes the lock is polled,
// several times a millisecond at first. Waiting ends with the context, and a
// write that was still waiting then has not happened. Once it has the lock, a
// write is carried through whatever becomes of the context, so its outcome is
// known. Readers never wait for writers.
//
// A process that is stopped in the middle of a write keeps all others from writing
// until it goes on or dies, and then they go on by themselves. Who has waited for half
// a minute gives up with store.ErrStoreLocked, and so does, after a second, whoever's
// context ends. The error names the process, where the system tells.
//
// Those who wait in line when the lock is had are carried out together, one after
// the other in one transaction, so that many pay for the disk once. Each is judged on
// what those before it did, and taken back alone if it is refused. If the transaction
// itself fails, all of them have an unknown outcome.
//
// # Format
//
// Bodies of 2 KiB and more are kept packed, by S2 and with a checksum, if that makes
// them smaller: a stream is mostly repetition, and a commit then writes a tenth of the
// bytes. Nothing of it shows outside: sizes and limits are those of the body. One that
// cannot be unpacked is store.ErrDamaged.
//
// A body that is put in pieces is kept in pieces from 320 KiB on: of each commit only
// those are written that have changed, and only those are read that are not known. How
// a body is kept shows in nothing but the time that it takes. A piece is of one blob, is
// never changed, and goes when that has another one in its place, or is deleted. Each has
// a checksum. Where a disk has lost one, that shows with the next read of whoever does
// not know it; those who do go on to write.
//
// A file of an older version of the format is brought to the present one when it is
// opened, in one transaction that takes no longer for a large file. Programs of the
// older version that still have it open fail from then on, and harm nothing.
//
// Do not put the file on a network drive: SQLite needs locks and shared memory
// that those do not offer.
package sqlitestore
