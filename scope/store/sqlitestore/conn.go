package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// level is how a commit reaches the disk.
type level string

const (
	full   level = "FULL"   // before it returns
	normal level = "NORMAL" // with the next full one, or a checkpoint
)

// conn is one connection with the statements it has prepared. Statements run
// without the caller's context: they are short, and one that is interrupted
// would leave the outcome open.
type conn struct {
	sql        *sql.Conn
	statements map[string]*sql.Stmt
	level      level // "" as it was opened
}

// setLevel takes effect from the next transaction on.
func (c *conn) setLevel(l level) error {
	if c.level == l {
		return nil
	}
	if err := c.execOnce("PRAGMA synchronous = " + string(l)); err != nil {
		return err
	}
	c.level = l
	return nil
}

// Times between two looks at a lock: a short commit takes a few hundred
// microseconds.
const (
	firstLook = 50 * time.Microsecond
	lastLook  = time.Millisecond
)

// retry calls f until it meets no lock, or ctx ends. SQLite would wait by itself,
// but sleeps up to 100 ms between two looks, in which time busy neighbours starve
// this process, and does not heed ctx.
func retry(ctx context.Context, f func() error) error {
	for look := firstLook; ; look = min(2*look, lastLook) {
		err := f()
		if !busy(err) {
			return err
		}
		if err := pause(ctx, look/2+rand.N(look)); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshot has all that f reads be of one moment.
func (c *conn) snapshot(f func() error) error {
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer c.rollback()
	return f()
}

// beginWrite takes the write lock. A transaction that could not begin has done
// nothing, so to retry this repeats no write.
const beginWrite = "BEGIN IMMEDIATE"

// commit may fail with the transaction on the disk or not: its error is one of
// unknown outcome.
func (c *conn) commit() error {
	err := c.exec("COMMIT")
	if err == nil {
		return nil
	}
	c.rollback()
	return err
}

// end commits the transaction, or takes it back because of err, which it returns.
func (c *conn) end(err error) error {
	if err != nil {
		c.rollback()
		return err
	}
	return c.commit()
}

// errUndone: SQLite has taken back the whole transaction, as it does when the disk
// is full.
var errUndone = errors.New("the whole transaction was undone")

// nested runs a part of a transaction, which is taken back alone if f fails. The
// transaction has ended if the error matches errUndone.
func (c *conn) nested(f func() error) error {
	if err := c.exec("SAVEPOINT op"); err != nil {
		return fmt.Errorf("%w: %w", errUndone, err)
	}
	err := f()
	var undone error
	if err != nil {
		undone = c.exec("ROLLBACK TO op")
	}
	if undone == nil {
		undone = c.exec("RELEASE op")
	}
	if undone == nil {
		return err
	}
	c.rollback()
	if code(err) != 0 { // the reason; a refusal would not be one
		undone = err
	}
	return fmt.Errorf("%w: %w", errUndone, undone)
}

// rollback ends a transaction that is not to be. It fails only if SQLite has
// done so by itself.
func (c *conn) rollback() { _ = c.exec("ROLLBACK") }

func (c *conn) prepared(query string) (*sql.Stmt, error) {
	if stmt := c.statements[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.statements[query] = stmt
	return stmt, nil
}

func (c *conn) exec(query string, args ...any) error {
	stmt, err := c.prepared(query)
	if err == nil {
		_, err = stmt.ExecContext(context.Background(), args...)
	}
	return err
}

// execAll runs statements with the same arguments until one fails.
func (c *conn) execAll(args []any, queries ...string) error {
	for _, query := range queries {
		if err := c.exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// execOnce does not keep the statement: some pragmas act when they are prepared.
func (c *conn) execOnce(query string) error {
	_, err := c.sql.ExecContext(context.Background(), query)
	return err
}

// row scans the only row of a query into dest; sql.ErrNoRows if there is none.
func (c *conn) row(query string, args []any, dest ...any) error {
	stmt, err := c.prepared(query)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(context.Background(), args...).Scan(dest...)
}

// rows calls f for each row of a query until it returns false.
func (c *conn) rows(query string, args []any, f func(scan func(dest ...any) error) (more bool, err error)) error {
	stmt, err := c.prepared(query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	for more := true; more && rows.Next(); {
		if more, err = f(rows.Scan); err != nil {
			break
		}
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.sql.Close())...)
}
