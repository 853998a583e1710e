package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks the file as ours: "LsSt".
	applicationID   = 0x4c735374
	pageSize        = 16384 // bytes
	checkpointPages = 1024  // of log, after which they are moved to the file
)

// version of the schema that this program reads and writes.
const version = len(steps)

// steps make the tables of a version from those of the one before; the first one
// makes them of nothing. A change of the tables is another step. Programs of older
// versions that have the file open stay in it: a step has to see to it that their
// statements go on to do no harm, or fail.
var steps = [...]string{tables, packedBodies, bodiesInPieces}

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

// packedBodies is version 2: a body may be stored by another codec than the plain
// one, which that of all older bodies is. The column has a new name, so that
// programs of version 1 neither take packed bytes for a body nor leave a plain one
// marked as packed.
const packedBodies = `
ALTER TABLE body RENAME COLUMN data TO content;
ALTER TABLE body ADD COLUMN codec INTEGER NOT NULL DEFAULT 0;
`

// bodiesInPieces is version 3: a body may be stored as a list of pieces, each of which
// has a row of its own. The table of bodies has a new name, so that programs of older
// versions can neither read nor write one, nor delete one and leave its pieces behind.
// Which blob a piece is of is asked only where the list is damaged, so there is no index
// of it.
const bodiesInPieces = `
ALTER TABLE body RENAME TO stored;
ALTER TABLE counter ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
CREATE TABLE piece (
	key     INTEGER PRIMARY KEY,
	blob    INTEGER NOT NULL,
	codec   INTEGER NOT NULL,
	content BLOB NOT NULL
) STRICT;
`

// errForeign is the error of a file that something else has made.
var errForeign = errors.New("it is no store of leasestream; name another file")

// prepare makes a store of an empty file, brings one of an older version to this
// one, and refuses one that is none of ours after no more than reading it. It waits
// for locks no longer than the store's patience.
func (s *Store) prepare(mustExist bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	err := s.line.pool.with(ctx, func(c *conn) error {
		found, err := inspect(ctx, c)
		switch {
		case err != nil:
			return err
		case found == 0 && mustExist:
			return errForeign
		case found == 0:
			err = c.execOnce(fmt.Sprintf("PRAGMA page_size = %d", pageSize))
		}
		if err == nil {
			err = useLog(ctx, c)
		}
		if err == nil && found < version {
			err = upgrade(ctx, c)
		}
		if err != nil {
			return err
		}
		return c.tune()
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New(lockText(s.path, s.patience))
	}
	return err
}

// inspect reads which version the file has; 0 if it is empty. One that is not ours
// is an error.
func inspect(ctx context.Context, c *conn) (found int, err error) {
	var id, objects int
	err = retry(ctx, func() error {
		return c.row("SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"+
			" FROM pragma_application_id, pragma_user_version", nil, &id, &found, &objects)
	})
	switch {
	case code(err) == sqlite3.SQLITE_NOTADB:
		return 0, errForeign
	case err != nil:
		return 0, err
	case id == 0 && found == 0 && objects == 0:
		return 0, nil
	case id != applicationID || found < 1:
		return 0, errForeign
	case found > version:
		return 0, fmt.Errorf("it has version %d of the format and this program knows up to %d: "+
			"use the leasestream that wrote it, or a newer one, or name another file", found, version)
	}
	return found, nil
}

// upgrade makes the tables, or brings them to this version. Any number of processes
// may do so at once: the first one to get the lock does, and the others find that.
func upgrade(ctx context.Context, c *conn) error {
	if err := c.setLevel(full); err != nil {
		return err
	}
	if err := retry(ctx, func() error { return c.exec(beginWrite) }); err != nil {
		return err
	}
	if err := takeSteps(ctx, c); err != nil {
		c.rollback()
		return err
	}
	return c.commit()
}

func takeSteps(ctx context.Context, c *conn) error {
	found, err := inspect(ctx, c)
	if err != nil || found == version {
		return err
	}
	return c.execOnce(fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d",
		strings.Join(steps[found:], ";"), applicationID, version))
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
// longer one saves less by rarer checkpoints than it costs by slower look-ups. What
// takes back an op of a group is kept in memory, not in a file elsewhere.
func (c *conn) tune() error {
	return errors.Join(
		c.execOnce(fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", checkpointPages)),
		c.execOnce("PRAGMA temp_store = MEMORY"),
		c.execOnce(fmt.Sprintf("PRAGMA journal_size_limit = %d", 4*checkpointPages*pageSize)),
	)
}
