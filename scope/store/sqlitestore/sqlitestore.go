package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // also the driver "sqlite"

	"github.com/leasestream/leasestream/scope/store"
)

// MaxBody is the largest body in bytes; SQLite ends at 10⁹ for a whole row.
const MaxBody = 900 << 20

// Store is one container in a SQLite file. Make one with [Open].
type Store struct {
	path     string
	patience time.Duration // with locks of other processes
	db       *sql.DB
	line     line // of those who write
	readers  *pool
	watcher  *pool // of one, since SQLite counts versions for each connection
	packer   packer
	maxBody  int64
	inPieces int          // bytes in large pieces from which on a body is kept in pieces
	keyShift int64        // between the keys of rows and those that are given out
	close    func() error // does so once
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Piecewise = (*Store)(nil)
)

// Options of a store; nil means the defaults.
type Options struct {
	// MustExist makes Open fail with fs.ErrNotExist if there is no file, instead
	// of creating one.
	MustExist bool
	// MaxBody is the largest body of a blob in bytes; 0 means [MaxBody]. A larger
	// one is refused with store.ErrTooLarge.
	MaxBody int64
}

func (o *Options) mustExist() bool { return o != nil && o.MustExist }

func (o *Options) maxBody() int64 {
	if o == nil || o.MaxBody == 0 {
		return MaxBody
	}
	return o.MaxBody
}

// Open opens the store in the file at path, which is created if it is missing;
// its directory is not. A file that is no store, or one of a newer version, is
// refused and left as it is.
func Open(path string, o *Options) (*Store, error) { return openWithin(patience, path, o) }

// openWithin is Open with a patience for locks.
func openWithin(patience time.Duration, path string, o *Options) (*Store, error) {
	s, err := open(patience, path, o)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", path, err)
	}
	return s, nil
}

func open(patience time.Duration, path string, o *Options) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := checkPlace(abs, o.mustExist()); err != nil {
		return nil, err
	}
	// Elsewhere than on Linux and the BSDs there is only fsync, which also does.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, err
	}
	db, err := sql.Open("sqlite", dataSource(abs, o.mustExist()))
	if err != nil {
		return nil, err
	}
	s := &Store{
		path:     abs,
		patience: patience,
		db:       db,
		line:     line{pool: newPool(db, 1), path: abs, patience: patience},
		readers:  newPool(db, max(2, runtime.GOMAXPROCS(0))),
		watcher:  newPool(db, 1),
		maxBody:  o.maxBody(),
		inPieces: inPieces,
		keyShift: rand.Int64N(1 << 62),
	}
	s.close = sync.OnceValue(s.shutDown)
	if err := s.prepare(o.mustExist()); err != nil {
		return nil, errors.Join(explain(err), s.Close())
	}
	return s, nil
}

// checkPlace says what is wrong with the path where SQLite would only say that
// it is unable to open it.
func checkPlace(path string, mustExist bool) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("it is a directory; name a file in it")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	case mustExist:
		return fmt.Errorf("%w; a command that writes, such as run or start, creates it", fs.ErrNotExist)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("its directory cannot be used, create it first: %w", err)
	}
	return nil
}

// dataSource is the URI of the file.
func dataSource(path string, mustExist bool) string {
	mode := "rwc"
	if mustExist {
		mode = "rw"
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
	return fmt.Sprintf("file:%s?mode=%s&_error_rc=1&_dqs=0", escaped, mode)
}

// Local reports that a call costs no round trip.
func (s *Store) Local() bool { return true }

// Close waits for the calls that are running and closes the file.
func (s *Store) Close() error { return s.close() }

func (s *Store) shutDown() error {
	return errors.Join(s.line.pool.close(), s.readers.close(), s.watcher.close(), s.db.Close())
}

// read runs f on a connection of its own. It may run again if it has met a lock,
// which only a recovery or a foreign program puts in the way of readers.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	return s.readers.with(ctx, func(c *conn) error {
		return s.outlast(ctx, func() error { return f(c) })
	})
}

// write runs f in a write transaction, which is committed if f returns nil. It
// writes content of so many bytes. The time is read after the lock is taken, so that
// leases are judged in the order in which requests take effect.
func (s *Store) write(ctx context.Context, l level, bytes int, f func(c *conn, now time.Time) error) error {
	return s.line.write(ctx, &op{level: l, bytes: bytes, do: f})
}
