package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver of all contenders
)

// file is the database of a job.
func (j *job) file() string { return filepath.Join(j.Folder, "bench.db") }

// pragmas make each commit durable when it returns. They are those that the
// contenders run under, whatever their own defaults are.
const pragmas = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)"

// openDB opens the database of a job with so many connections at most, and notes
// under which pragmas it runs.
func (j *job) openDB(ctx context.Context, connections int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+j.file()+pragmas+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	if err := j.notePragmas(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (j *job) notePragmas(ctx context.Context, db *sql.DB) error {
	var journal string
	var synchronous int
	err := errors.Join(
		db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal),
		db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous),
	)
	if err != nil {
		return err
	}
	levels := []string{"OFF", "NORMAL", "FULL", "EXTRA"}
	j.pragmas = fmt.Sprintf("journal_mode=%s synchronous=%s", journal, levels[synchronous])
	return nil
}
