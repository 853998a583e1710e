package scope

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// Scope holds leases and edits Event-Streams in the blobs of one store. Make one
// with [New], and one only for each store in a process: edits of a stream share
// uploads within one Scope. All methods may be called concurrently.
type Scope struct {
	st       store.Store
	local    bool
	versions store.Versioner // nil: the store has none
	set      settings
	clock    *clock
	procs    *processes
	stats    counters
	told     histograms

	open  context.Context // ends when Close begins
	shut  context.CancelCauseFunc
	lines sync.WaitGroup // goroutines that edit

	number  atomic.Int64 // last commit number
	maxBody atomic.Int64 // largest document the store may take, as far as known

	mu     sync.Mutex // guards the fields below, and what line says
	leases map[*Lease]struct{}
	blobs  map[string]*line
	warm   []*line // idle lines with a document in memory, longest idle first
}

// New makes a scope over a store. The store stays the caller's to close, after
// the scope.
func New(st store.Store, o *Options) *Scope {
	local := store.IsLocal(st)
	s := &Scope{
		st: st, local: local,
		set:    o.settings(local),
		clock:  newClock(local),
		procs:  newProcesses(),
		leases: map[*Lease]struct{}{},
		blobs:  map[string]*line{},
	}
	s.versions, _ = st.(store.Versioner)
	if !local {
		s.st = timed{st, s.clock}
	}
	if o != nil {
		s.meter(o.MeterProvider, s.set.logger)
	}
	s.open, s.shut = context.WithCancelCause(context.Background())
	s.maxBody.Store(eventstream.MaxBytes)
	return s
}

// Store is the store that the scope works on. What it answers sets the clock of
// [Scope.Now].
func (s *Scope) Store() store.Store { return s.st }

// Now is the store's time, so that hosts whose clocks differ agree: exact on a
// local store, otherwise within about the time of one request, and our own until
// the store has answered for the first time.
func (s *Scope) Now() time.Time { return s.clock.now() }

// Close ends the scope: edits that have been taken up are finished, those that
// wait for a lease are told ErrClosed, and all leases are released, those that
// Hold and Keeper gave included. It returns when everything the scope has started
// has ended.
func (s *Scope) Close() error {
	s.mu.Lock()
	s.shut(ErrClosed)
	s.mu.Unlock()
	s.lines.Wait()
	for l := s.anyLease(); l != nil; l = s.anyLease() {
		if err := l.release(context.Background(), ErrClosed); err != nil {
			s.set.logger.Warn("lease not released", "blob", l.blob, "lease", l.id, "err", err)
		}
	}
	return nil
}

func (s *Scope) anyLease() *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.leases {
		return l
	}
	return nil
}

func (s *Scope) closed() bool { return s.open.Err() != nil }

// whileOpen returns a context that ends with ctx, and when the scope is closed.
func (s *Scope) whileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.open, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// Stats counts what a scope did since it was made.
type Stats struct {
	Edits     int64 // that were applied and written
	Commits   int64 // uploads that held them
	Reads     int64 // documents downloaded for edits
	Acquires  int64 // requests for a lease
	Refused   int64 // of which found the lease held
	Renewals  int64 // requests to renew a lease
	Lost      int64 // leases lost
	Reruns    int64 // batches of edits that were run again
	Bypassed  int64 // commits refused because someone wrote without our lease
	Unknown   int64 // commits that were not answered, or refused as too many
	Unsettled int64 // of which it stayed unknown what became of them

	// LongestWait is the longest Result.Waited of an edit that succeeded.
	LongestWait time.Duration
}

type counters struct {
	edits, commits, reads, acquires, refused, renewals, lost, reruns, bypassed, unknown, unsettled counter

	longestWait atomic.Int64
}

// waited notes how long an edit waited.
func (c *counters) waited(d time.Duration) {
	for {
		longest := c.longestWait.Load()
		if int64(d) <= longest || c.longestWait.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// Stats returns the counts.
func (s *Scope) Stats() Stats {
	c := &s.stats
	return Stats{
		Edits: c.edits.Load(), Commits: c.commits.Load(), Reads: c.reads.Load(),
		Acquires: c.acquires.Load(), Refused: c.refused.Load(), Renewals: c.renewals.Load(), Lost: c.lost.Load(),
		Reruns: c.reruns.Load(), Bypassed: c.bypassed.Load(), Unknown: c.unknown.Load(), Unsettled: c.unsettled.Load(),
		LongestWait: time.Duration(c.longestWait.Load()),
	}
}
