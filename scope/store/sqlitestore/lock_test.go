package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// lock takes a lock of the file by the statements until the function is called
// that it returns. The default is the write lock, as another process has it that
// is in the middle of a write.
func lock(t *testing.T, path string, statements ...string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if len(statements) == 0 {
		statements = []string{"BEGIN IMMEDIATE"}
	}
	for _, s := range statements {
		exec(s)
	}
	return func() {
		exec("ROLLBACK")
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestStore_WriteWaitsForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		unlock := lock(t, path)
		const locked = 2 * time.Second
		time.AfterFunc(locked, unlock)
		begin := time.Now()
		put(t, s, "a", "")
		if waited := time.Since(begin); waited < locked || waited > locked+10*time.Millisecond {
			t.Errorf("Put() returned after %v, want just after the lock was free, %v", waited, locked)
		}
	})
}

// Who gives up has done nothing. After a long lock it says so, and that it was for the
// lock.
func TestStore_WriteGivesUpWithItsContext(t *testing.T) {
	for lasts, want := range map[time.Duration]error{100 * time.Millisecond: nil, time.Second: store.ErrStoreLocked} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := create(t, path)
			put(t, s, "a", "old")
			unlock := lock(t, path)
			ctx, cancel := context.WithTimeout(t.Context(), lasts)
			defer cancel()
			done := make(chan error)
			go func() { // in line behind the first one; done receives when it ends
				_, err := s.Lease(ctx, "a", &store.LeaseRequest{Action: store.LeaseAcquire, Duration: store.MinLease})
				done <- err
			}()
			_, err := s.Put(ctx, "a", []byte("new"), nil)
			for op, err := range map[string]error{"Put": err, "Lease": <-done} {
				if e, ok := errors.AsType[*store.Error](err); !ok || e.Sentinel != want || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s() behind a lock for %v = %v, want %v and %v", op, lasts, err, want, context.DeadlineExceeded)
				}
			}
			if got := body(t, s, "a"); got != "old" {
				t.Errorf("Get() = %q while another process writes, want old", got)
			}
			unlock()
			info, err := s.Stat(t.Context(), "a", nil)
			if err != nil || info.Lease.State != store.LeaseAvailable {
				t.Errorf("Stat() = %+v, %v, want no lease: nothing that was given up may happen later", info, err)
			}
			put(t, s, "a", "new")
		})
	}
}

// However long its context lasts, a write waits no longer than it has patience, which
// it has anew for each lock.
func TestStore_WriteLosesItsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		create(t, path)
		const patience = 2 * time.Second
		s, err := sqlitestore.OpenWithin(patience, path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for range 2 {
			unlock := lock(t, path)
			var both sync.WaitGroup
			for range 2 { // one behind the other
				both.Go(func() {
					began := time.Now()
					_, err := s.Put(context.Background(), "a", nil, nil)
					if !errors.Is(err, store.ErrStoreLocked) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "locked for 2s") {
						t.Errorf("Put() behind a lock = %v, want %v for 2s", err, store.ErrStoreLocked)
					}
					if waited := time.Since(began); waited < patience || waited > patience+10*time.Millisecond {
						t.Errorf("Put() gave up after %v, want %v", waited, patience)
					}
				})
			}
			both.Wait()
			time.AfterFunc(patience/2, unlock)
			put(t, s, "a", "")
			time.Sleep(time.Minute)
		}
	})
}

func TestStore_CloseWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		unlock := lock(t, path)
		done := make(chan error)
		go func() { // ends when the lock is free
			_, err := s.Put(t.Context(), "a", nil, nil)
			done <- err
		}()
		synctest.Wait()
		time.AfterFunc(time.Second, unlock)
		go s.Close() // ends with the Put
		if err := <-done; err != nil {
			t.Errorf("Put() during Close() = %v", err)
		}
	})
}

// TestStore_Durability looks at the level of the last commit: what is to outlive
// a power cut is synced by itself.
func TestStore_Durability(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "store.db"))
	lease := func(action store.LeaseAction, d time.Duration) func() error {
		return func() error {
			r := &store.LeaseRequest{Action: action, ID: fixedID, NewID: fixedID, Duration: d}
			_, err := s.Lease(t.Context(), "a", r)
			return err
		}
	}
	write := func() error {
		_, err := s.Put(t.Context(), "a", nil, &store.PutOptions{Conditions: store.Conditions{}})
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
		want string
	}{
		{"put", write, "FULL"},
		{"acquire finite", lease(store.LeaseAcquire, store.MinLease), "NORMAL"},
		{"renew finite", lease(store.LeaseRenew, 0), "NORMAL"},
		{"change finite", lease(store.LeaseChange, 0), "NORMAL"},
		{"make infinite", lease(store.LeaseAcquire, store.LeaseInfinite), "FULL"},
		{"make finite", lease(store.LeaseAcquire, store.MinLease), "FULL"},
		{"release finite", lease(store.LeaseRelease, 0), "NORMAL"},
		{"acquire infinite", lease(store.LeaseAcquire, store.LeaseInfinite), "FULL"},
		{"change infinite", lease(store.LeaseChange, 0), "FULL"},
		{"release infinite", lease(store.LeaseRelease, 0), "FULL"},
		{"acquire finite again", lease(store.LeaseAcquire, store.MinLease), "NORMAL"},
		{"break finite", lease(store.LeaseBreak, 0), "NORMAL"},
		{"acquire infinite again", lease(store.LeaseAcquire, store.LeaseInfinite), "FULL"},
		{"break infinite", lease(store.LeaseBreak, 0), "FULL"},
		{"delete", func() error { return s.Delete(t.Context(), "a", nil) }, "FULL"},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s = %v", step.name, err)
		}
		if got := sqlitestore.Synchronous(t, s); got != step.want {
			t.Errorf("%s was committed with synchronous=%s, want %s", step.name, got, step.want)
		}
	}
}

func TestOpen_Locked(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"store": func(t *testing.T, path string) { create(t, path).Close() },
		"empty": func(*testing.T, string) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			prepare(t, path)
			unlock := lock(t, path, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE")
			defer unlock()
			begin := time.Now()
			_, err := sqlitestore.OpenWithin(time.Second, path)
			if err == nil || !strings.Contains(err.Error(), "locked") || !strings.Contains(err.Error(), path) {
				t.Errorf("Open() of a locked file (%s) = %v, want an error that says so", name, err)
			}
			if waited := time.Since(begin); waited < time.Second || waited > time.Second+10*time.Millisecond {
				t.Errorf("Open() of a locked file (%s) gave up after %v", name, waited)
			}
		})
	}
}
