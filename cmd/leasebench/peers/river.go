package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

type riverArgs struct {
	N int64 `json:"n"`
}

func (riverArgs) Kind() string { return "job" }

// riverWorker adds up in memory: River's queue has no durable fan-in.
type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	sum atomic.Int64
}

func (w *riverWorker) Work(_ context.Context, job *river.Job[riverArgs]) error {
	w.sum.Add(job.Args.N)
	return nil
}

// riverJobs inserts all jobs and waits until each is completed in the database.
func riverJobs(ctx context.Context, j *job) (sum int64, err error) {
	db, err := j.openDB(ctx, 1) // as its driver advises
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := &riverWorker{}
	client, err := newRiver(ctx, db, w)
	if err != nil {
		return 0, err
	}
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: j.N, Kinds: []river.EventKind{river.EventKindJobCompleted},
	})
	defer cancel()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
	return j.measure(func() (int64, error) {
		jobs := make([]river.InsertManyParams, j.N)
		for i := range jobs {
			jobs[i].Args = riverArgs{int64(i) + 1}
		}
		if _, err := client.InsertManyFast(ctx, jobs); err != nil {
			return 0, err
		}
		for range j.N {
			select {
			case <-completed:
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
		}
		return w.sum.Load(), nil
	})
}

func newRiver(ctx context.Context, db *sql.DB, w *riverWorker) (*river.Client[*sql.Tx], error) {
	driver := riversqlite.New(db)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	return river.NewClient(driver, &river.Config{
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1000}},
		Workers:           workers,
	})
}
