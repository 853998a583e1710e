package dashboard

import (
	"context"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// update is what those who watch a subject are told.
type update struct {
	version string // of the subject
	html    string // parts of the page that can be shown at once; may be empty
}

// pace is how often subjects are looked at, by what a look costs.
type pace struct {
	run   time.Duration // one request
	runs  time.Duration // a listing
	other time.Duration // listings and a read for each worker
}

var (
	localPace  = pace{50 * time.Millisecond, 200 * time.Millisecond, time.Second}
	remotePace = pace{2 * time.Second, 2 * time.Second, 5 * time.Second}
)

// look finds out how a subject is now.
type look func(ctx context.Context) (update, error)

// feeds looks after subjects for as long as somebody watches them: one loop for
// each, whoever many watch.
type feeds struct {
	versions store.Versioner // nil: the store has none
	pace     pace
	ctx      context.Context
	stop     context.CancelFunc
	loops    sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	open   map[string]*feed
	closed bool
}

// feed is one subject with those who watch it.
type feed struct {
	look     look
	every    time.Duration
	watchers map[*watcher]struct{} // guarded by feeds.mu
	last     update                // guarded by feeds.mu; zero until the first look
	stop     context.CancelFunc
}

// watcher has the newest update in c until it is taken: who is slow misses what
// has been superseded, and holds up nobody.
type watcher struct {
	c     chan update
	leave func()
}

func newFeeds(st store.Store) *feeds {
	f := &feeds{pace: remotePace, open: map[string]*feed{}}
	if store.IsLocal(st) {
		f.pace = localPace
	}
	f.versions, _ = st.(store.Versioner)
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// close ends all loops and waits for them. Whoever watches sees done closed.
func (f *feeds) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.loops.Wait()
}

func (f *feeds) done() <-chan struct{} { return f.ctx.Done() }

// watch tells of a subject from now on, its present state first. The loop that
// looks at it ends when the last watcher has left.
func (f *feeds) watch(subject string, every time.Duration, l look) *watcher {
	w := &watcher{c: make(chan update, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	fd := f.open[subject]
	if fd == nil {
		fd = f.begin(subject, every, l)
	}
	fd.watchers[w] = struct{}{}
	if fd.last != (update{}) {
		w.put(fd.last)
	}
	w.leave = sync.OnceFunc(func() { f.leave(subject, fd, w) })
	return w
}

func (f *feeds) begin(subject string, every time.Duration, l look) *feed {
	fd := &feed{look: l, every: every, watchers: map[*watcher]struct{}{}}
	ctx, stop := context.WithCancel(f.ctx)
	fd.stop = stop
	f.open[subject] = fd
	if !f.closed {
		f.loops.Go(func() { f.run(ctx, fd) }) // until the last watcher leaves, or close
	}
	return fd
}

func (f *feeds) leave(subject string, fd *feed, w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(fd.watchers, w)
	if len(fd.watchers) > 0 {
		return
	}
	fd.stop()
	if f.open[subject] == fd {
		delete(f.open, subject)
	}
}

// lookAnyway is how often a subject is looked at although the store shows no
// write: leases change by themselves.
const lookAnyway = time.Second

func (f *feeds) run(ctx context.Context, fd *feed) {
	ticker := time.NewTicker(fd.every)
	defer ticker.Stop()
	var seen uint64
	var looked time.Time
	for ctx.Err() == nil {
		version, known := f.version(ctx)
		if !known || version != seen || time.Since(looked) >= lookAnyway {
			seen, looked = version, time.Now()
			f.lookOnce(ctx, fd)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// version is a number of the store that changes with every write.
func (f *feeds) version(ctx context.Context) (version uint64, known bool) {
	if f.versions == nil {
		return 0, false
	}
	version, err := f.versions.Version(ctx)
	return version, err == nil
}

func (f *feeds) lookOnce(ctx context.Context, fd *feed) {
	u, err := fd.look(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		// The page itself says what is wrong, when it is loaded anew.
		u = update{version: "error: " + err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if u == fd.last {
		return
	}
	fd.last = u
	for w := range fd.watchers {
		w.put(u)
	}
}

// put replaces what was not taken yet. One goroutine at a time calls it, so that
// there is room and it waits for nobody.
func (w *watcher) put(u update) {
	select {
	case <-w.c:
	default:
	}
	select {
	case w.c <- u:
	default:
	}
}
