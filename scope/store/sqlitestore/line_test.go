package sqlitestore_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// queue is a store whose writers wait behind a lock, in the order in which they
// come.
type queue struct {
	t       *testing.T
	path    string
	store   *sqlitestore.Store
	unlock  func()
	waiting []*waiter
}

type waiter struct {
	name     string
	err      error
	panicked any
	done     chan struct{}
}

// inQueue runs f in a bubble.
func inQueue(t *testing.T, f func(t *testing.T, q *queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		f(t, &queue{t: t, path: path, store: create(t, path)})
	})
}

// lock makes those who come from now on wait.
func (q *queue) lock() { q.unlock = lock(q.t, q.path) }

// add puts one more in line.
func (q *queue) add(name string, do func() error) *waiter {
	w := &waiter{name: name, done: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	go func() { // pass waits for it
		defer close(w.done)
		defer func() { w.panicked = recover() }()
		w.err = do()
	}()
	synctest.Wait()
	return w
}

func (q *queue) put(name, body string, c store.Conditions) *waiter {
	return q.add("put "+name, func() error {
		_, err := q.store.Put(context.Background(), name, []byte(body), &store.PutOptions{Conditions: c})
		return err
	})
}

// putPieces puts largePieces of a version; had is what is known of the blob.
func (q *queue) putPieces(name, version string, had *store.Body, c store.Conditions) *waiter {
	return q.add("put pieces of "+name, func() error {
		_, _, err := q.store.PutPieces(context.Background(), name, largePieces(version), had, &store.PutOptions{Conditions: c})
		return err
	})
}

func (q *queue) acquire(name, id string) *waiter {
	return q.add("acquire "+name, func() error {
		_, err := q.store.Lease(context.Background(), name, &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.MinLease})
		return err
	})
}

// run lets all go, waits for their outcomes, and returns how many transactions they
// were.
func (q *queue) run() (transactions int) {
	q.t.Helper()
	before := commits(q.t, q.path)
	q.pass()
	return commits(q.t, q.path) - before
}

// pass lets all go and waits for their outcomes.
func (q *queue) pass() {
	q.unlock()
	for _, w := range q.waiting {
		<-w.done
	}
	q.waiting = nil
}

// want checks the outcome of a waiter; nil for success.
func (w *waiter) want(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(w.err, err) {
		t.Errorf("%s = %v, want %v", w.name, w.err, err)
	}
}

// wantUnknown checks that w was not told that nothing was changed.
func (w *waiter) wantUnknown(t *testing.T) {
	t.Helper()
	if e, ok := errors.AsType[*store.Error](w.err); !ok || e.Sentinel != nil {
		t.Errorf("%s = %v, want an error of unknown outcome", w.name, w.err)
	}
}

// wantBlobs checks the bodies; "" for a blob that is not there.
func wantBlobs(t *testing.T, s store.Store, bodies map[string]string) {
	t.Helper()
	for name, want := range bodies {
		object, err := s.Get(t.Context(), name, nil)
		switch {
		case want == "" && !errors.Is(err, store.ErrNotFound):
			t.Errorf("Get(%q) = %v, want %v", name, err, store.ErrNotFound)
		case want != "" && (err != nil || string(object.Body) != want):
			t.Errorf("Get(%q) = %v, want a body of %d bytes", name, err, len(want))
		}
	}
}

// commits counts the transactions in the log of a file: the last frame of each has
// the size of the file.
func commits(t *testing.T, path string) (n int) {
	t.Helper()
	const header, frameHeader, page = 32, 24, 16384
	log := content(t, path+"-wal")
	salt := log[16:24]
	for at := header; at+frameHeader+page <= len(log); at += frameHeader + page {
		frame := log[at:]
		if string(frame[8:16]) != string(salt) {
			break // of an earlier turn of the log
		}
		if binary.BigEndian.Uint32(frame[4:]) != 0 {
			n++
		}
	}
	return n
}

func TestLine_ThoseWhoWaitShareATransaction(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		want := map[string]string{}
		q.lock()
		for i := range 10 {
			name := fmt.Sprint("blob", i)
			want[name] = lines(5000 * i)
			q.put(name, want[name]+"x", store.Conditions{})
			want[name] += "x"
			q.acquire(name, "")
		}
		waiting := q.waiting
		if got := q.run(); got != 1 {
			t.Errorf("%d writers were %d transactions, want 1", len(waiting), got)
		}
		for _, w := range waiting {
			w.want(t, nil)
		}
		wantBlobs(t, q.store, want)
		if got := sqlitestore.Synchronous(t, q.store); got != "FULL" {
			t.Errorf("a group with Puts was committed with synchronous=%s, want FULL", got)
		}
	})
}

func TestLine_RefusalsAreTakenBackAlone(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		put(t, q.store, "a", "old")
		q.lock()
		first := q.acquire("a", fixedID)
		second := q.acquire("a", "")
		without := q.put("a", "without", store.Conditions{})
		wrong := q.put("a", "wrong", store.Conditions{LeaseID: fixedID, IfMatch: `"0x0"`})
		right := q.put("a", "right", store.Conditions{LeaseID: fixedID})
		none := q.add("delete", func() error { return q.store.Delete(context.Background(), "none", nil) })
		other := q.put("b", "other", store.Conditions{IfNoneMatch: store.AnyETag})
		again := q.put("b", "again", store.Conditions{IfNoneMatch: store.AnyETag})
		if got := q.run(); got != 1 {
			t.Errorf("the writers were %d transactions, want 1", got)
		}
		first.want(t, nil)
		second.want(t, store.ErrLeaseHeld)
		without.want(t, store.ErrLeaseMissing)
		wrong.want(t, store.ErrConditionNotMet)
		right.want(t, nil)
		none.want(t, store.ErrNotFound)
		other.want(t, nil)
		again.want(t, store.ErrExists)
		wantBlobs(t, q.store, map[string]string{"a": "right", "b": "other"})
	})
}

// TestLine_PiecesAreTakenBackAlone has bodies in pieces put over each other and over
// whole ones in one transaction, of which some are refused and one fails in the middle
// of its pieces.
func TestLine_PiecesAreTakenBackAlone(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		a := putPieces(t, q.store, "a", largePieces("old"), nil)
		b := putPieces(t, q.store, "b", largePieces("old"), nil)
		raw(t, q.path, "CREATE TRIGGER fails BEFORE INSERT ON piece WHEN length(new.content) = 777 + 4 BEGIN SELECT RAISE(FAIL, 'no'); END")
		failing := slices.Insert(largePieces("failing"), 10, noise(777))
		var done []*waiter
		q.lock()
		done = append(done, q.putPieces("a", "new", a, store.Conditions{}))
		wrong := q.putPieces("a", "wrong", a, store.Conditions{IfMatch: `"0x0"`})
		fails := q.add("fails", func() error {
			_, _, err := q.store.PutPieces(context.Background(), "b", failing, b, nil)
			return err
		})
		done = append(done,
			q.put("c", "whole", store.Conditions{}),
			q.putPieces("c", "over whole", b, store.Conditions{}),
			q.putPieces("d", "under whole", nil, store.Conditions{}),
			q.put("d", "over pieces", store.Conditions{}),
			q.putPieces("e", "deleted", nil, store.Conditions{}),
			q.add("delete", func() error { return q.store.Delete(context.Background(), "e", nil) }))
		again := q.putPieces("c", "again", nil, store.Conditions{IfNoneMatch: store.AnyETag})
		if got := q.run(); got != 1 {
			t.Errorf("the writers were %d transactions, want 1", got)
		}
		for _, w := range done {
			w.want(t, nil)
		}
		wrong.want(t, store.ErrConditionNotMet)
		fails.wantUnknown(t)
		again.want(t, store.ErrExists)
		wantPieces(t, q.store, "a", largePieces("new"), a)
		wantPieces(t, q.store, "b", largePieces("old"), b)
		wantPieces(t, q.store, "c", largePieces("over whole"), b)
		wantBlobs(t, q.store, map[string]string{"d": "over pieces", "e": ""})
		sqlitestore.CheckPieces(t, q.store)
	})
}

// TestLine_PiecesCount has the pieces that are new count for the size of a group, and no
// others.
func TestLine_PiecesCount(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		pieces := slices.Repeat([]string{noise(600_000)}, 2)
		had := putPieces(t, q.store, "a", pieces, nil)
		write := func(had *store.Body) {
			q.add("put pieces", func() error {
				_, _, err := q.store.PutPieces(context.Background(), "a", pieces, had, nil)
				return err
			})
		}
		q.lock()
		for range 5 {
			write(had)
		}
		if got := q.run(); got != 1 {
			t.Errorf("5 bodies of which all is known were %d transactions, want 1", got)
		}
		q.lock()
		for range 3 {
			write(nil)
		}
		if got := q.run(); got != 3 {
			t.Errorf("3 bodies of which nothing is known were %d transactions, want 3", got)
		}
	})
}

func TestLine_AllRefused(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.lock()
		none, other := q.acquire("none", ""), q.acquire("other", "")
		if got := q.run(); got != 0 {
			t.Errorf("refusals were committed, in %d transactions", got)
		}
		none.want(t, store.ErrNotFound)
		other.want(t, store.ErrNotFound)
		put(t, q.store, "a", "")
	})
}

// TestLine_Level: a group is synced if any of it has to be.
func TestLine_Level(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		put(t, q.store, "a", "old")
		put(t, q.store, "b", "old")
		q.lock()
		all := []*waiter{q.acquire("a", fixedID), q.acquire("b", "")}
		if got := q.run(); got != 1 || sqlitestore.Synchronous(t, q.store) != "NORMAL" {
			t.Errorf("two leases were %d transactions with synchronous=%s, want 1 with NORMAL", got, sqlitestore.Synchronous(t, q.store))
		}
		q.lock()
		renew := func() error {
			_, err := q.store.Lease(context.Background(), "a", &store.LeaseRequest{Action: store.LeaseRenew, ID: fixedID})
			return err
		}
		all = append(all, q.add("renew", renew), q.put("c", "new", store.Conditions{}), q.add("renew", renew))
		if got := q.run(); got != 1 || sqlitestore.Synchronous(t, q.store) != "FULL" {
			t.Errorf("a Put among leases was %d transactions with synchronous=%s, want 1 with FULL", got, sqlitestore.Synchronous(t, q.store))
		}
		for _, w := range all {
			w.want(t, nil)
		}
	})
}

func TestLine_GroupsAreBounded(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.lock()
		for i := range 70 {
			q.put(fmt.Sprint("small", i), "x", store.Conditions{})
		}
		if got := q.run(); got != 3 {
			t.Errorf("70 small Puts were %d transactions, want 3", got)
		}
		q.lock()
		for i := range 5 {
			q.put(fmt.Sprint("large", i), noise(400_000), store.Conditions{})
		}
		q.put("huge", noise(2_000_000), store.Conditions{})
		if got := q.run(); got != 4 {
			t.Errorf("5 large Puts and a huge one were %d transactions, want 4", got)
		}
	})
}

// TestLine_WhoLeavesHasDoneNothing has some of a line give up: the one that leads and
// one behind it.
func TestLine_WhoLeavesHasDoneNothing(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		ctx, cancel := context.WithCancel(t.Context())
		leave := func(name string) *waiter {
			return q.add(name, func() error {
				_, err := q.store.Put(ctx, name, []byte("x"), nil)
				return err
			})
		}
		q.lock()
		gone := []*waiter{leave("leader")}
		a := q.put("a", "new", store.Conditions{})
		gone = append(gone, leave("middle"))
		b := q.put("b", "new", store.Conditions{})
		gone = append(gone, leave("last"))
		cancel()
		synctest.Wait()
		for _, w := range gone {
			select {
			case <-w.done:
				w.want(t, context.Canceled)
			default:
				t.Errorf("%s is still in line after its context ended", w.name)
			}
		}
		if got := q.run(); got != 1 {
			t.Errorf("those who stayed were %d transactions, want 1", got)
		}
		a.want(t, nil)
		b.want(t, nil)
		wantBlobs(t, q.store, map[string]string{"a": "new", "b": "new", "leader": "", "middle": "", "last": ""})
	})
}

// TestLine_OutcomeIsAwaitedOnceItsTurnHasCome ends the context of one whose group is
// on its way.
func TestLine_OutcomeIsAwaitedOnceItsTurnHasCome(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		ctx, cancel := context.WithCancel(t.Context())
		q.lock()
		q.add("slow", func() error {
			return sqlitestore.Write(context.Background(), q.store, func() { cancel(); time.Sleep(time.Second) })
		})
		w := q.add("put", func() error {
			_, err := q.store.Put(ctx, "a", []byte("new"), nil)
			return err
		})
		q.run()
		w.want(t, nil)
		wantBlobs(t, q.store, map[string]string{"a": "new"})
	})
}

// TestLine_FailedCommit has a deferred constraint fail the commit: nobody may hold
// for certain what was decided on what others had done.
func TestLine_FailedCommit(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		put(t, q.store, "a", "old")
		had := putPieces(t, q.store, "pieces", largePieces("old"), nil)
		raw(t, q.path,
			"CREATE TABLE poison (id INTEGER REFERENCES blob(id) DEFERRABLE INITIALLY DEFERRED)",
			"CREATE TRIGGER poisons AFTER INSERT ON blob WHEN new.name = 'poison' BEGIN INSERT INTO poison VALUES (-1); END")
		sqlitestore.ExecOnWriter(t, q.store, "PRAGMA foreign_keys = ON")
		q.lock()
		all := []*waiter{
			q.acquire("a", fixedID),
			q.put("b", "new", store.Conditions{}),
			q.putPieces("pieces", "new", had, store.Conditions{}),
			q.put("poison", "x", store.Conditions{}),
			q.acquire("a", ""), // refused because of the first one
			q.put("a", "new", store.Conditions{LeaseID: fixedID}),
		}
		if got := q.run(); got != 0 {
			t.Errorf("%d transactions were committed, want none", got)
		}
		for _, w := range all {
			w.wantUnknown(t)
		}
		wantBlobs(t, q.store, map[string]string{"a": "old", "b": "", "poison": ""})
		put(t, q.store, "a", "free")                              // no lease is left of it
		putPieces(t, q.store, "other", largePieces("other"), nil) // under the keys that were taken back
		wantPieces(t, q.store, "pieces", largePieces("old"), had)
		putPieces(t, q.store, "pieces", largePieces("newer"), had)
		wantPieces(t, q.store, "pieces", largePieces("newer"), had)
		sqlitestore.CheckPieces(t, q.store)
	})
}

// TestLine_TransactionUndone has SQLite take back the transaction by itself in the
// middle of a group, as it does when the disk is full.
func TestLine_TransactionUndone(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		put(t, q.store, "a", "old")
		had := putPieces(t, q.store, "pieces", largePieces("old"), nil)
		raw(t, q.path, "CREATE TRIGGER undoes BEFORE INSERT ON blob WHEN new.name = 'poison' BEGIN SELECT RAISE(ROLLBACK, 'no more'); END")
		q.lock()
		all := []*waiter{
			q.put("a", "new", store.Conditions{}),
			q.putPieces("pieces", "new", had, store.Conditions{}),
			q.put("poison", "x", store.Conditions{}),
			q.put("b", "new", store.Conditions{}),
		}
		if got := q.run(); got != 0 {
			t.Errorf("%d transactions were committed, want none", got)
		}
		for _, w := range all {
			w.wantUnknown(t)
		}
		wantBlobs(t, q.store, map[string]string{"a": "old", "b": "", "poison": ""})
		put(t, q.store, "b", "works")
		putPieces(t, q.store, "pieces", largePieces("newer"), had)
		wantPieces(t, q.store, "pieces", largePieces("newer"), had)
		sqlitestore.CheckPieces(t, q.store)
	})
}

// TestStore_TransactionUndone has SQLite take back the transaction in the middle of an
// op that is alone: what is left of it may not become a transaction of its own.
func TestStore_TransactionUndone(t *testing.T) {
	overwrite := func(s *sqlitestore.Store, had *store.Body) error {
		_, _, err := s.PutPieces(context.Background(), "a", largePieces("new"), had, nil)
		return err
	}
	remove := func(s *sqlitestore.Store, _ *store.Body) error { return s.Delete(context.Background(), "a", nil) }
	for _, test := range []struct {
		event string
		do    func(*sqlitestore.Store, *store.Body) error
	}{
		{"DELETE ON piece", overwrite},
		{"UPDATE ON blob", overwrite},
		{"UPDATE ON stored", overwrite},
		{"INSERT ON piece", overwrite},
		{"DELETE ON piece", remove},
		{"DELETE ON stored", remove},
		{"DELETE ON blob", remove},
	} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		had := putPieces(t, s, "a", largePieces("old"), nil)
		raw(t, path, "CREATE TRIGGER undoes BEFORE "+test.event+" BEGIN SELECT RAISE(ROLLBACK, 'no more'); END")
		if e, ok := errors.AsType[*store.Error](test.do(s, had)); !ok || e.Sentinel != nil {
			t.Errorf("%s: the write = %v, want an error of unknown outcome", test.event, e)
		}
		wantPieces(t, s, "a", largePieces("old"), had)
		sqlitestore.CheckPieces(t, s)
	}
}

// TestLine_FailedStatement has a statement fail in the middle of an op, after others
// of it have had their effect.
func TestLine_FailedStatement(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		raw(t, q.path, "CREATE TRIGGER fails BEFORE INSERT ON stored WHEN length(new.content) = 13 BEGIN SELECT RAISE(FAIL, 'no'); END")
		q.lock()
		before := q.put("before", "new", store.Conditions{})
		fails := q.put("fails", "thirteenbytes", store.Conditions{})
		after := q.put("after", "new", store.Conditions{})
		if got := q.run(); got != 1 {
			t.Errorf("the writers were %d transactions, want 1", got)
		}
		before.want(t, nil)
		fails.wantUnknown(t)
		after.want(t, nil)
		wantBlobs(t, q.store, map[string]string{"before": "new", "fails": "", "after": "new"})
	})
}

func TestLine_PanicIsThatOfItsCaller(t *testing.T) {
	for _, others := range []bool{false, true} {
		inQueue(t, func(t *testing.T, q *queue) {
			q.lock()
			var before, after *waiter
			if others {
				before = q.put("before", "new", store.Conditions{})
			}
			w := q.add("panic", func() error {
				return sqlitestore.Write(context.Background(), q.store, func() { panic("over") })
			})
			if others {
				after = q.put("after", "new", store.Conditions{})
			}
			q.run()
			if w.panicked != "over" {
				t.Errorf("the caller of what panics got %v, want the panic", w.panicked)
			}
			if others {
				before.want(t, nil)
				after.want(t, nil)
				wantBlobs(t, q.store, map[string]string{"before": "new", "after": "new"})
			}
			put(t, q.store, "a", "works")
		})
	}
}

func TestLine_CloseLetsThoseInLinePass(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.lock()
		for i := range 5 {
			q.put(fmt.Sprint(i), "x", store.Conditions{})
		}
		inLine := q.waiting
		q.add("close", func() error { return q.store.Close() })
		q.pass()
		for _, w := range inLine {
			w.want(t, nil)
		}
	})
}

// dieInGroup kills itself in the middle of a group, after three Puts of it.
func dieInGroup(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	die := func() {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		panic(err) // it is dead by now
	}
	in := make(chan struct{})
	first := func() { close(in); time.Sleep(time.Second) } // while the others come
	go sqlitestore.Write(context.Background(), s, first)
	<-in
	for _, do := range []func() error{
		func() error { _, err := s.Put(context.Background(), "a", []byte("new"), nil); return err },
		func() error { _, err := s.Put(context.Background(), "b", []byte("new"), nil); return err },
		func() error {
			_, _, err := s.PutPieces(context.Background(), "pieces", largePieces("new"), nil, nil)
			return err
		},
		func() error { return sqlitestore.Write(context.Background(), s, die) },
	} {
		go func() { fmt.Println(do()) }()
		time.Sleep(50 * time.Millisecond)
	}
	select {}
}

func TestProcesses_KilledInAGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	put(t, s, "a", "old")
	had := putPieces(t, s, "pieces", largePieces("old"), nil)
	p := start(t, "die-in-group", path)
	for p.out.Scan() {
		t.Errorf("an op of a group that was not committed was told %q", p.out.Text())
	}
	p.Wait() // its error is the kill
	wantBlobs(t, s, map[string]string{"a": "old", "b": ""})
	wantPieces(t, s, "pieces", largePieces("old"), had)
	sqlitestore.CheckPieces(t, s)
	put(t, s, "a", "new")
}
