package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
)

// errClosed is the error of calls after Close.
var errClosed = errors.New("the store is closed")

// pool hands out connections, first come first served. They are opened when
// they are first needed.
type pool struct {
	db    *sql.DB
	slots chan *conn // one for each connection; nil if it is not open yet
}

func newPool(db *sql.DB, size int) *pool {
	p := &pool{db: db, slots: make(chan *conn, size)}
	for range size {
		p.slots <- nil
	}
	return p
}

// with calls f with a connection of its own. It waits for one no longer than ctx
// lasts; f runs to its end.
func (p *pool) with(ctx context.Context, f func(*conn) error) error {
	return p.withUnless(ctx, nil, f)
}

// withUnless is with for what is not needed any more once done is closed: f is not
// called then, which is no error.
func (p *pool) withUnless(ctx context.Context, done <-chan struct{}, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c, ok := <-p.slots:
		if !ok {
			return errClosed
		}
		return p.use(c, f)
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) use(c *conn, f func(*conn) error) error {
	defer func() { p.slots <- c }()
	if c == nil {
		opened, err := p.open()
		if err != nil {
			return err
		}
		c = opened
	}
	return f(c)
}

func (p *pool) open() (*conn, error) {
	sc, err := p.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{sql: sc, statements: map[string]*sql.Stmt{}}, nil
}

// close waits for the connections in use and closes all. It may be called once.
func (p *pool) close() error {
	var errs []error
	for range cap(p.slots) {
		if c := <-p.slots; c != nil {
			errs = append(errs, c.close())
		}
	}
	close(p.slots)
	return errors.Join(errs...)
}
