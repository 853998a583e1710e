package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/monoprocess"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"
	"github.com/google/uuid"
)

func workflowsJob(_ context.Context, i int64) (int64, error) { return i, nil }

func workflowsSplit(ctx workflow.Context, n int) (int64, error) {
	futures := make([]workflow.Future[int64], n)
	for i := range futures {
		futures[i] = workflow.ExecuteActivity[int64](ctx, workflow.DefaultActivityOptions, workflowsJob, int64(i)+1)
	}
	sum := int64(0)
	for _, f := range futures {
		v, err := f.Get(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// goWorkflows runs all jobs as activities of one workflow. Without the longer life
// of its executors, a run of more than ten seconds ends with an empty result.
func goWorkflows(ctx context.Context, j *job) (sum int64, err error) {
	// Its database handle is its own; one that was opened alike tells the pragmas.
	db, err := j.openDB(ctx, 1)
	if err != nil {
		return 0, err
	}
	if err := db.Close(); err != nil {
		return 0, err
	}
	b := monoprocess.NewMonoprocessBackend(sqlite.NewSqliteBackend(j.file()+pragmas, sqlite.WithBackendOptions(
		backend.WithLogger(slog.New(slog.DiscardHandler)),
		backend.WithMaxHistorySize(1<<40),
	)))
	defer func() { err = errors.Join(err, b.Close()) }()
	o := worker.DefaultOptions
	o.WorkflowExecutorCacheTTL = 10 * time.Minute
	o.ActivityPollers = 8
	o.SingleWorkerMode = true
	w := worker.New(b, &o)
	if err := errors.Join(w.RegisterWorkflow(workflowsSplit), w.RegisterActivity(workflowsJob)); err != nil {
		return 0, err
	}
	workCtx, stop := context.WithCancel(ctx)
	if err := w.Start(workCtx); err != nil {
		stop()
		return 0, err
	}
	defer func() {
		stop()
		err = errors.Join(err, w.WaitForCompletion())
	}()
	return j.measure(func() (int64, error) {
		c := client.New(b)
		instance, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: uuid.NewString()}, workflowsSplit, j.N)
		if err != nil {
			return 0, err
		}
		return client.GetWorkflowResult[int64](ctx, c, instance, time.Hour)
	})
}
