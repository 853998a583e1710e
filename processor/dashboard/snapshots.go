package dashboard

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

const (
	// keptStreams and keptBytes bound the documents that are kept in memory.
	keptStreams = 32
	keptBytes   = 64 << 20
)

// snapshots keeps the documents that are looked at, so that each version is read
// once, however many look at it.
type snapshots struct {
	p    *processor.Processor
	mu   sync.Mutex // guards the fields below
	kept map[string]*snapshot
}

// snapshot is one version of a run's document. What is derived from it is made
// once, by who needs it first.
type snapshot struct {
	name string
	used time.Time // guarded by snapshots.mu

	done    chan struct{} // closed when the fields below are there
	version string
	info    processor.RunInfo   // of the whole run
	stream  *eventstream.Stream // the run's own
	docs    []*document         // all that the run consists of, its own first
	whole   bool                // no child stream was left out
	err     error

	shape func() *shape
	stats func() *stats
}

func newSnapshots(p *processor.Processor) *snapshots {
	return &snapshots{p: p, kept: map[string]*snapshot{}}
}

// get returns a run as it is now. Who comes while it is read waits for that.
func (s *snapshots) get(ctx context.Context, name string) (*snapshot, error) {
	for {
		info, err := s.p.Look(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case info.Unreadable != nil:
			return nil, info.Unreadable
		}
		snap, mine := s.entry(name, versionOf(info))
		if mine {
			s.read(ctx, snap, info)
		}
		select {
		case <-snap.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		// Whoever read it may have gone away meanwhile, which is no reason for us.
		if given := errors.Is(snap.err, context.Canceled) || errors.Is(snap.err, context.DeadlineExceeded); !given || ctx.Err() != nil {
			return snap, snap.err
		}
	}
}

// entry finds the version of a run, or begins one, which is then the caller's to
// read.
func (s *snapshots) entry(name, version string) (snap *snapshot, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap := s.kept[name]; snap != nil && (!snap.isRead() || snap.err == nil && snap.version == version) {
		snap.used = time.Now()
		return snap, false
	}
	snap = &snapshot{name: name, used: time.Now(), done: make(chan struct{})}
	s.kept[name] = snap
	s.evict(snap)
	return snap, true
}

func (s *snapshots) read(ctx context.Context, snap *snapshot, info processor.RunInfo) {
	defer close(snap.done)
	docs, whole, err := readRun(ctx, s.p, snap.name)
	if err != nil {
		snap.err = err
		return
	}
	// What was read may be newer than info; then the next look finds another version.
	snap.version, snap.info, snap.docs, snap.whole = versionOf(info), info, docs, whole
	snap.stream = docs[0].Stream
	snap.shape = sync.OnceValue(func() *shape { return shapeOf(docs) })
	snap.stats = sync.OnceValue(func() *stats { return statsOf(snap) })
}

// versionOf is another one after each change of a run, in whichever of its
// documents.
func versionOf(info processor.RunInfo) string {
	if info.Batches == 0 {
		return info.ETag
	}
	sum := fnv.New64a()
	fmt.Fprintln(sum, info.ETag, info.Done, info.Total, info.Ready, info.Running, info.OK, info.Failed, info.Updated.UnixNano())
	return fmt.Sprintf("%x", sum.Sum64())
}

func (s *snapshot) isRead() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// size is how much of the budget an entry takes.
func (s *snapshot) size() int {
	total := 0
	if s.isRead() {
		for _, d := range s.docs {
			total += d.Stream.Size()
		}
	}
	return total
}

// evict forgets what was not looked at for the longest time, but never what is
// needed now.
func (s *snapshots) evict(now *snapshot) {
	for {
		var oldest *snapshot
		total := 0
		for _, snap := range s.kept {
			total += snap.size()
			if snap != now && snap.isRead() && (oldest == nil || snap.used.Before(oldest.used)) {
				oldest = snap
			}
		}
		if oldest == nil || len(s.kept) <= keptStreams && total <= keptBytes {
			return
		}
		delete(s.kept, oldest.name)
	}
}
