package sqlitestore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Bounds of a group, so that the first of it does not wait for the last much longer
// than for itself. One op may exceed the bytes alone.
const (
	groupOps   = 32
	groupBytes = 1 << 20
)

// op is a write that waits in line.
type op struct {
	level level
	bytes int // of content that it writes
	do    func(c *conn, now time.Time) error
	began time.Time // to wait

	done  chan struct{} // closed when the fields below are set
	err   error         // nil: it is committed
	panic any           // what do panicked with; nil: it did not
}

// line is where the writers of a process wait for the connection that writes. Who
// gets it leads: all that wait then are one group, that is one transaction with one
// commit, and know their outcome after it. So there is no goroutine that works for
// others, and who is alone does no more than its own.
type line struct {
	pool     *pool // of one connection
	path     string
	patience time.Duration // with a lock of another process

	mu      sync.Mutex // guards the fields below
	waiting []*op      // first come first served
	locked  time.Time  // since when the file has been found locked; zero: it was free
}

// write waits for its turn until ctx ends, and then for the outcome. An op that did
// not get its turn has done nothing. Who has led a group that was full before its own
// turn goes on waiting.
func (l *line) write(ctx context.Context, o *op) error {
	o.done, o.began = make(chan struct{}), time.Now()
	l.enter(o)
	for {
		err := l.pool.withUnless(ctx, o.done, func(c *conn) error { return l.lead(ctx, c, o) })
		if err != nil {
			if locked, left := l.leave(o); left {
				return blame(ctx, l.path, locked, err)
			}
			<-o.done // another leader has it in its group
		}
		if o.ended() {
			return o.outcome()
		}
	}
}

func (l *line) enter(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, o)
}

// leave takes o out of the line; false if its turn has come already. locked is since
// when the file has been found locked.
func (l *line) leave(o *op) (locked time.Time, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, o)
	if i < 0 {
		return time.Time{}, false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	locked = l.locked
	if len(l.waiting) == 0 {
		l.locked = time.Time{} // nobody looks any more
	}
	return locked, true
}

// lead runs the group at the head of the line, on behalf of own, which may have had
// its turn meanwhile.
func (l *line) lead(ctx context.Context, c *conn, own *op) error {
	if own.ended() {
		return nil
	}
	err := l.begin(c)
	if busy(err) {
		err = l.outlast(ctx, c, own)
	}
	if err != nil {
		return err
	}
	run(c, l.take(c.level))
	return nil
}

// begin begins the transaction of the next group.
func (l *line) begin(c *conn) error {
	if err := c.setLevel(l.level()); err != nil {
		return err
	}
	return c.exec(beginWrite)
}

// outlast begins it after a lock that was met, unless patience or ctx ends before.
func (l *line) outlast(ctx context.Context, c *conn, own *op) error {
	ctx, cancel := context.WithDeadline(ctx, l.metLock(own).Add(l.patience))
	defer cancel()
	return retry(ctx, func() error { return l.begin(c) })
}

// metLock notes that the file is locked, and returns since when that has kept own
// from its turn.
func (l *line) metLock(own *op) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked.IsZero() {
		l.locked = time.Now()
	}
	if own.began.After(l.locked) {
		return own.began
	}
	return l.locked
}

// level is the one at which the next group is to be committed. It has to be set
// before the transaction begins, while the line may still grow.
func (l *line) level() level {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.waiting[:groupSize(l.waiting)] {
		if o.level == full {
			return full
		}
	}
	return normal
}

// take removes the next group of the line, as far as it may be committed at this
// level. Its transaction has begun: the file is not locked any more.
func (l *line) take(level level) []*op {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked = time.Time{}
	n := groupSize(l.waiting)
	for i, o := range l.waiting[:n] {
		if o.level == full && level != full {
			n = i
			break
		}
	}
	group := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return group
}

// groupSize is how many ops at the head of a line make a group.
func groupSize(waiting []*op) (n int) {
	for bytes := 0; n < min(len(waiting), groupOps); n++ {
		if bytes += waiting[n].bytes; n > 0 && bytes > groupBytes {
			break
		}
	}
	return n
}

// errUnfinished is the outcome of ops that were interrupted by a panic.
var errUnfinished = errors.New("the write was interrupted")

// run carries out a group in the transaction that has begun, and ends it.
func run(c *conn, group []*op) {
	err := errUnfinished
	defer func() {
		if errors.Is(err, errUnfinished) {
			c.rollback()
		}
		for _, o := range group {
			if err != nil {
				o.err = err
			}
			close(o.done)
		}
	}()
	if len(group) == 1 {
		err = runAlone(c, group[0])
	} else {
		err = runAll(c, group)
	}
}

func runAlone(c *conn, o *op) error { return c.end(o.run(c)) }

// runAll runs each op so that it can be taken back alone. An error of it is that of
// all, of refusals too: what they were refused for may be undone with the rest.
func runAll(c *conn, group []*op) error {
	refused := 0
	for _, o := range group {
		o.err = c.nested(func() error { return o.run(c) })
		if errors.Is(o.err, errUndone) {
			return o.err
		}
		if o.err != nil {
			refused++
		}
	}
	if refused == len(group) {
		c.rollback()
		return nil
	}
	return c.commit()
}

// run does what o is for. A panic is kept for who asked for it: the one who runs it
// may be another.
func (o *op) run(c *conn) (err error) {
	defer func() {
		if o.panic = recover(); o.panic != nil {
			err = errUnfinished
		}
	}()
	return o.do(c, time.Now())
}

func (o *op) ended() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// outcome is for who asked for o, once it has ended.
func (o *op) outcome() error {
	if o.panic != nil {
		panic(o.panic)
	}
	return o.err
}
