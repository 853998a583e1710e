package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks the file as ours: "LsSt".
	applicationID = 0x4c735374
	// version of the schema. A change of the tables raises it.
	version = 1

	pageSize        = 16384 // bytes
	checkpointPages = 1024  // of log, after which they are moved to the file
)

// tables of version 1. The body is a table of its own, so that a lease operation
// or a listing does not touch it. Times are nanoseconds since 1970, 0 for none;
// the blob without a name is the container.
const tables = `
CREATE TABLE blob (
	id             INTEGER PRIMARY KEY,
	name           TEXT NOT NULL UNIQUE,
	etag           TEXT NOT NULL,
	size           INTEGER NOT NULL,
	content_type   TEXT NOT NULL,
	metadata       TEXT NOT NULL,
	created        INTEGER NOT NULL,
	modified       INTEGER NOT NULL,
	lease_id       TEXT NOT NULL,
	lease_duration INTEGER NOT NULL,
	lease_ends     INTEGER NOT NULL,
	lease_breaks   INTEGER NOT NULL,
	lease_holder   TEXT NOT NULL
) STRICT;
CREATE TABLE body (
	id   INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;
CREATE TABLE counter (
	etags INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (0);
`

// patience is how long Open waits for locks.
const patience = 30 * time.Second

// errForeign is the error of a file that something else has made.
var errForeign = errors.New("it is no store of leasestream; name another file")

// prepare makes a store of an empty file, and refuses one that is none of ours
// after no more than reading it. It waits for locks no longer than patience.
func (s *Store) prepare(patience time.Duration, mustExist bool) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience,
		fmt.Errorf("another program has kept it locked for %v", patience))
	defer cancel()
	err := s.writer.with(ctx, func(c *conn) error {
		empty, err := inspect(ctx, c)
		switch {
		case err != nil:
			return err
		case empty && mustExist:
			return errForeign
		case empty:
			err = create(ctx, c)
		default:
			err = useLog(ctx, c)
		}
		if err != nil {
			return err
		}
		return c.tune()
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

// inspect reads whether the file is empty or ours. Any other is an error.
func inspect(ctx context.Context, c *conn) (empty bool, err error) {
	var id, v, objects int
	err = retry(ctx, func() error {
		return c.row("SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"+
			" FROM pragma_application_id, pragma_user_version", nil, &id, &v, &objects)
	})
	switch {
	case code(err) == sqlite3.SQLITE_NOTADB:
		return false, errForeign
	case err != nil:
		return false, err
	case id == 0 && v == 0 && objects == 0:
		return true, nil
	case id != applicationID:
		return false, errForeign
	case v > version:
		return false, fmt.Errorf("it has version %d of the format and this program knows up to %d: "+
			"use the leasestream that wrote it, or a newer one, or name another file", v, version)
	}
	return false, nil
}

// create makes the tables. Any number of processes may do so at once: the first
// one to get the lock does, and the others find that.
func create(ctx context.Context, c *conn) error {
	if err := c.execOnce(fmt.Sprintf("PRAGMA page_size = %d", pageSize)); err != nil {
		return err
	}
	if err := useLog(ctx, c); err != nil {
		return err
	}
	if err := c.setLevel(full); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := createTables(ctx, c); err != nil {
		c.rollback()
		return err
	}
	return c.commit()
}

func createTables(ctx context.Context, c *conn) error {
	empty, err := inspect(ctx, c)
	if err != nil || !empty {
		return err
	}
	return c.execOnce(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d",
		tables, applicationID, version))
}

// useLog puts the file in WAL mode, in which it stays.
func useLog(ctx context.Context, c *conn) error {
	var mode string
	err := retry(ctx, func() error { return c.row("PRAGMA journal_mode = WAL", nil, &mode) })
	if err == nil && mode != "wal" {
		return errors.New("its file system has no shared memory: put it on a local disk")
	}
	return err
}

// tune sets up the connection that writes. The log is kept short (4 MiB): a
// longer one saves less by rarer checkpoints than it costs by slower look-ups.
func (c *conn) tune() error {
	return errors.Join(
		c.execOnce(fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", checkpointPages)),
		c.execOnce(fmt.Sprintf("PRAGMA journal_size_limit = %d", 4*checkpointPages*pageSize)),
	)
}
