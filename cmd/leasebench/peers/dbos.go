package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // tells apart the errors of SQLite
)

// dbosSteps runs all jobs as parallel steps of one workflow.
func dbosSteps(ctx context.Context, j *job) (int64, error) {
	workflow := func(ctx dbos.Context, n int) (int64, error) {
		outcomes := make([]<-chan dbos.StepOutcome[int64], n)
		for i := range outcomes {
			var err error
			outcomes[i], err = dbos.Go(ctx, func(context.Context) (int64, error) { return int64(i) + 1, nil })
			if err != nil {
				return 0, err
			}
		}
		sum := int64(0)
		for _, c := range outcomes {
			outcome := <-c
			if outcome.Err != nil {
				return 0, outcome.Err
			}
			sum += outcome.Result
		}
		return sum, nil
	}
	return withDBOS(ctx, j, func(ctx dbos.Context) error {
		dbos.RegisterWorkflow(ctx, workflow)
		return nil
	}, workflow)
}

// dbosQueue runs each job as a child workflow, through a queue.
func dbosQueue(ctx context.Context, j *job) (int64, error) {
	var queue dbos.Queue
	child := func(_ dbos.Context, i int64) (int64, error) { return i, nil }
	workflow := func(ctx dbos.Context, n int) (int64, error) {
		handles := make([]dbos.WorkflowHandle[int64], n)
		for i := range handles {
			var err error
			handles[i], err = dbos.RunWorkflow(ctx, child, int64(i)+1, dbos.WithQueue(queue))
			if err != nil {
				return 0, err
			}
		}
		sum := int64(0)
		for _, h := range handles {
			v, err := h.GetResult(dbos.WithHandlePollingInterval(time.Millisecond))
			if err != nil {
				return 0, err
			}
			sum += v
		}
		return sum, nil
	}
	return withDBOS(ctx, j, func(ctx dbos.Context) (err error) {
		dbos.RegisterWorkflow(ctx, workflow)
		dbos.RegisterWorkflow(ctx, child)
		queue, err = dbos.RegisterQueue(ctx, "jobs",
			dbos.WithWorkerConcurrency(1000), dbos.WithQueueBasePollingInterval(10*time.Millisecond))
		return err
	}, workflow)
}

// withDBOS runs a workflow in a DBOS that was prepared for it. The handle of the
// database is ours, since DBOS's own would leave commits to a later fsync.
func withDBOS(ctx context.Context, j *job, prepare func(dbos.Context) error, workflow dbos.Workflow[int, int64]) (sum int64, err error) {
	db, err := j.openDB(ctx, 4)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	d, err := dbos.NewContext(ctx, dbos.Config{AppName: "peers", SQLiteSystemDB: db, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(d, time.Minute)) }()
	if err := errors.Join(prepare(d), dbos.Launch(d)); err != nil {
		return 0, err
	}
	return j.measure(func() (int64, error) {
		h, err := dbos.RunWorkflow(d, workflow, j.N)
		if err != nil {
			return 0, err
		}
		return h.GetResult(dbos.WithHandlePollingInterval(time.Millisecond))
	})
}
