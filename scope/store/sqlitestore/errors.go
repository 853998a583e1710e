package sqlitestore

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// fail is the error of a request.
func fail(op, name string, err error) error { return rules.Fail(op, name, explain(err)) }

// code is SQLite's primary result code of err; 0 if it is none of SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// busy tells an error that means: a lock was not to be had, nothing was done.
func busy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_PROTOCOL
}

// advice is what to do about results of SQLite that a user can do something
// about.
var advice = map[int]string{
	sqlite3.SQLITE_FULL:     "free some space on its disk",
	sqlite3.SQLITE_READONLY: "make the file and its directory writable for this user",
	sqlite3.SQLITE_CANTOPEN: "make the file and its directory writable for this user",
	sqlite3.SQLITE_IOERR:    "check the disk; a network drive cannot hold a store",
	sqlite3.SQLITE_CORRUPT:  "the file is damaged: restore it from a copy",
	sqlite3.SQLITE_BUSY:     "end the program that holds the file locked",
}

// explained is an error of SQLite with the advice.
type explained struct {
	err    error
	advice string
}

var _ store.Remedied = (*explained)(nil)

func (e *explained) Error() string { return e.err.Error() + ": " + e.advice }
func (e *explained) Unwrap() error { return e.err }

// Remedied implements [store.Remedied].
func (*explained) Remedied() {}

// explain adds the advice to an error of SQLite.
func explain(err error) error {
	if a := advice[code(err)]; a != "" {
		return &explained{err, a}
	}
	return err
}
